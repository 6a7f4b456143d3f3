"""Common words: function words, and those of instructions, plans and reports."""

from __future__ import annotations

_FUNCTION_WORDS = """
a about all am an and any are as at be been by can could d did do does for from had has have he her here him his how i if in into is it its ll m
may me might must my no not of on or our please re s shall she should so some t than that the their them then there these they this those to us
ve was we were what when where which who whom why will with would you your
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
"""Words that say nothing about the purpose of a request."""

_INSTRUCTIONS = """
able above access according accurate across action actual add additional address after again against agent aim allow along already also although
always amount analysis analyze another answer anything appear application appropriate approach area around ask aspect assist assume attempt available
average avoid aware back base based basic because become before begin behind being believe below best better between both bring build call called
cannot careful carefully case cases cause certain change changes check clear clearly click close code collect come command common compare complete
completed compute concern conclude conclusion condition confirm consider consistent contact contain contains content context continue convert correct
correctly count create created current currently data date deal decide define depend describe description detail detailed details determine develop
different difficult directly display document done double down due during each earlier early easily either else end enough ensure enter entire error
especially even every exact exactly examine example execute existing expect expected expert explain extract face fact false feel few field fields
figure file files final finally find finding first fit fix focus follow following form format forward found full function further gather general
generate get give given go goal going good got great guide handle happen having help helpful high however idea identify image implement important
improve include included including indeed indicate individual information initial input inside instead instruction instructions interest involve issue
issues item items itself join just keep key kind know known large last later lead learn least leave let level like likely line lines list listed
little load local locate log long look looking lot low made main maintain make making manage many match material matter maybe mean meaning means
measure meet member mention mentioned message method mind minimum missing mode more most move much multiple name named names near necessary need
needed needs never new next none note notes nothing now number numbers object obtain off ok okay old once one only onto open option options order
original other others otherwise out outcome output over overall own page part particular parts past path pattern people per percent perform performed
period person piece place plan point possible potential present previous previously print probably problem proceed process produce program project
proper properly provide provided provides purpose put question questions quick quickly quite range rather reach read ready real reason receive recent
record refer reference regarding relate related relevant remain remaining remember remove repeat replace report request requested require required
requirement requirements resolve respond response rest result resulting results return returned review right row rows rule run running safe same save
say search second section see seem seems select send sentence separate sequence series set several share show shown shows side similar simple simply
since single site situation six size small solution solve something sort source space specific specifically specified specify standard start state
stated statement step steps still stop store string strong structure study subject such suggest suitable sum summarize summary support sure system
table take task team tell term terms test text therefore thing things think though thought three through thus time times title today together too tool
top topic total toward track true try turn two type types under understand unique unit until up update upon use used useful user using usually valid
value values various verify version very via view wait want way web website well whether while whole whose within without word words work working
write written wrong year years yes yet zero median min max index head tail shape dtype plot import
"""

COMMON_WORDS = FUNCTION_WORDS | frozenset(_INSTRUCTIONS.split())
"""A run of words that consists of these may be shared by accident."""
