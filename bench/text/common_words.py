"""Words that say little in what agents and their users write: function words, and the words of instructions, plans and reports."""

from __future__ import annotations

from .scripts import FUNCTION_WORDS

_INSTRUCTIONS = """
able about above access according accurate across action actual add additional address after again against agent aim all allow along already also
although always amount analysis analyze another answer any anything appear application appropriate approach area around ask aspect assist assume
attempt available average avoid aware back base based basic because become before begin behind being believe below best better between both bring
build call called can cannot careful carefully case cases cause certain change changes check clear clearly click close code collect come command
common compare complete completed compute concern conclude conclusion condition confirm consider consistent contact contain contains content context
continue convert correct correctly could count create created current currently data date deal decide define depend describe description detail
detailed details determine develop did different difficult directly display do document done double down due during each earlier early easily either
else end enough ensure enter entire error especially even every exact exactly examine example execute existing expect expected expert explain extract
face fact false feel few field fields figure file files final finally find finding first fit fix focus follow following for form format forward found
from full function further gather general generate get give given go goal going good got great guide had handle happen has have having help helpful
here high how however idea identify if image implement important improve in include included including indeed indicate individual information initial
input inside instead instruction instructions interest into involve issue issues item items its itself join just keep key kind know known large last
later lead learn least leave let level like likely line lines list listed little load local locate log long look looking lot low made main maintain
make making manage many match material matter may maybe mean meaning means measure meet member mention mentioned message method might mind minimum
missing mode more most move much multiple must name named names near necessary need needed needs never new next no none note notes nothing now number
numbers object obtain of off ok okay old on once one only onto open option options or order original other others otherwise our out outcome output
over overall own page part particular parts past path pattern people per percent perform performed period person piece place plan please point
possible potential present previous previously print probably problem proceed process produce program project proper properly provide provided
provides purpose put question questions quick quickly quite range rather reach read ready real reason receive recent record refer reference
regarding relate related relevant remain remaining remember remove repeat replace report request requested require required requirement
requirements resolve respond response rest result resulting results return returned review right row rows rule run running safe same save say search
second section see seem seems select send sentence separate sequence series set several share should show shown shows side similar simple simply since
single site situation six size small so solution solve some something sort source space specific specifically specified specify standard start state
stated statement step steps still stop store string strong structure study subject such suggest suitable sum summarize summary support sure system
table take task team tell term terms test text than that the their them then there therefore these they thing things think this those though thought
three through thus time times title to today together too tool top topic total toward track true try turn two type types under understand unique
unit until up update upon us use used useful user using usually valid value values various verify version very via view wait want was way we web
website well were what when where whether which while who whole whose why will with within without word words work working would write written wrong
year years yes yet you your zero mean median min max sum count unique index head tail shape dtype print plot import
"""

COMMON_WORDS = FUNCTION_WORDS | frozenset(_INSTRUCTIONS.split())
"""A run of words needs others than these to be no accident."""
