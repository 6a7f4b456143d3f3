"""Secrets as providers' documentation and people's files show them: 101 kinds, written down one by one and not from the bench's own patterns."""

from __future__ import annotations

import base64
import json
import random
import string

import pytest

from bench.traces.redaction import Redactor

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
LETTERS, HEX = LOWER + UPPER, "0123456789abcdef"
ALNUM, URLSAFE = LETTERS + DIGITS, LETTERS + DIGITS + "-_"
BASE64 = LETTERS + DIGITS + "+/"


def kinds(seed: int) -> dict[str, tuple[str, str]]:
    """By kind a secret that is made up and the text in which it stands."""
    draw = random.Random(seed)

    def r(of: str, length: int) -> str:
        return "".join(draw.choices(of, k=length))

    login = base64.b64encode(f"deploy:{r(ALNUM, 18)}".encode()).decode()
    snowflake = base64.b64encode(b"1017362849501827364").decode().rstrip("=")
    found = {
        "aws access key": ("AKIA" + r(UPPER + "234567", 16), "aws_access_key_id = {}"),
        "aws temporary key": ("ASIA" + r(UPPER + "234567", 16), "export AWS_ACCESS_KEY_ID={}"),
        "aws secret key": (r(BASE64, 40), "aws_secret_access_key = {}"),
        "aws session token": ("IQoJb3JpZ2luX2Vj" + r(BASE64, 320) + "==", "export AWS_SESSION_TOKEN={}"),
        "aws session token as json": ("FwoGZXIvYXdzE" + r(BASE64, 200), '{{"AWS_SESSION_TOKEN": "{}"}}'),
        "openai project key": ("sk-proj-" + r(URLSAFE, 74) + "T3BlbkFJ" + r(URLSAFE, 74), "OPENAI_API_KEY={}"),
        "openai legacy key": ("sk-" + r(ALNUM, 20) + "T3BlbkFJ" + r(ALNUM, 20), "openai.api_key = '{}'"),
        "openai service account": ("sk-svcacct-" + r(URLSAFE, 60), "key: {}"),
        "anthropic key": ("sk-ant-api03-" + r(URLSAFE, 93) + "AA", "x-api-key: {}"),
        "anthropic admin key": ("sk-ant-admin01-" + r(URLSAFE, 93) + "AA", "ANTHROPIC_ADMIN_KEY={}"),
        "openrouter key": ("sk-or-v1-" + r(HEX, 64), "Authorization: Bearer {}"),
        "groq key": ("gsk_" + r(ALNUM, 52), "GROQ_API_KEY={}"),
        "xai key": ("xai-" + r(ALNUM, 80), "XAI_API_KEY={}"),
        "perplexity key": ("pplx-" + r(ALNUM, 48), "PPLX={}"),
        "replicate key": ("r8_" + r(ALNUM, 37), "replicate login --token {}"),
        "nvidia key": ("nvapi-" + r(URLSAFE, 64), "export NVIDIA_API_KEY={}"),
        "hugging face, letters alone": ("hf_" + r(LETTERS, 34), "huggingface-cli login --token {}"),
        "hugging face, in a call": ("hf_" + r(LETTERS, 34), 'login(token="{}")'),
        "google api key": ("AIza" + r(URLSAFE, 35), "https://maps.googleapis.com/maps/api/js?key={}&v=3"),
        "google oauth secret": ("GOCSPX-" + r(URLSAFE, 28), '"client_secret":"{}"'),
        "google access token": ("ya29.a0" + r(URLSAFE, 160), "access token is {}."),
        "github pat": ("ghp_" + r(ALNUM, 36), "git clone https://{}@github.com/x/y.git"),
        "github server token": ("ghs_" + r(ALNUM, 36), "GITHUB_TOKEN: {},"),
        "github fine grained": ("github_pat_" + r(ALNUM, 22) + "_" + r(ALNUM, 59), "gh auth login --with-token <<< {}"),
        "gitlab pat": ("glpat-" + r(URLSAFE, 20), "PRIVATE-TOKEN: {}"),
        "gitlab runner": ("glrt-" + r(URLSAFE, 20), "registration token {}"),
        "npm token": ("npm_" + r(ALNUM, 36), "//registry.npmjs.org/:_authToken={}"),
        "pypi token": ("pypi-AgEIcHlwaS5vcmc" + r(URLSAFE, 120), "password = {}"),
        "rubygems key": ("rubygems_" + r(HEX, 48), ":rubygems_api_key: {}"),
        "docker hub pat": ("dckr_pat_" + r(URLSAFE, 27), "docker login -u bob -p {}"),
        "docker config": (login, '{{"auths": {{"https://index.docker.io/v1/": {{"auth": "{}"}}}}}}'),
        "slack bot": (f"xoxb-{r(DIGITS, 12)}-{r(DIGITS, 13)}-{r(ALNUM, 24)}", "SLACK_BOT_TOKEN={}"),
        "slack user": (f"xoxp-{r(DIGITS, 12)}-{r(DIGITS, 12)}-{r(DIGITS, 12)}-{r(HEX, 32)}", "token={}"),
        "slack app": (f"xapp-1-A{r(UPPER + DIGITS, 10)}-{r(DIGITS, 13)}-{r(HEX, 64)}", "app token {}"),
        "slack webhook": (f"T{r(UPPER, 8)}/B{r(UPPER, 8)}/{r(ALNUM, 24)}", "https://hooks.slack.com/services/{}"),
        "telegram url": (f"{r('123456789', 10)}:AA{r(URLSAFE, 33)}", "https://api.telegram.org/bot{}/sendMessage?chat_id=1"),
        "telegram, other prefix": (f"{r('123456789', 9)}:{r(URLSAFE, 35)}", "curl https://api.telegram.org/bot{}/getMe"),
        "discord bot": (f"{snowflake}.G{r(ALNUM, 5)}.{r(URLSAFE, 38)}", "client.run('{}')"),
        "discord webhook": (r(URLSAFE, 68), "https://discord.com/api/webhooks/1017362849501827364/{}"),
        "stripe live": ("sk_live_" + r(ALNUM, 99), "stripe.api_key = '{}'"),
        "stripe restricted": ("rk_live_" + r(ALNUM, 24), "STRIPE={}"),
        "stripe webhook": ("whsec_" + r(ALNUM, 32), "endpoint secret {}"),
        "twilio key": ("SK" + r(HEX, 32), "TWILIO_API_KEY={}"),
        "sendgrid": (f"SG.{r(URLSAFE, 22)}.{r(URLSAFE, 43)}", "SENDGRID_API_KEY='{}'"),
        "mailgun": ("key-" + r(HEX, 32), "mailgun_api_key = {}"),
        "mailchimp": (r(HEX, 32) + "-us12", "MAILCHIMP_KEY: {}"),
        "shopify": ("shpat_" + r(HEX, 32), "X-Shopify-Access-Token: {}"),
        "digitalocean": ("dop_v1_" + r(HEX, 64), "doctl auth init -t {}"),
        "heroku": (f"{r(HEX, 8)}-{r(HEX, 4)}-{r(HEX, 4)}-{r(HEX, 4)}-{r(HEX, 12)}", "HEROKU_API_KEY={}"),
        "netlify": (r(ALNUM, 43), "netlify_auth_token={}"),
        "cloudflare": (r(ALNUM, 40), "cloudflare_api_token = {}"),
        "fastly": (r(ALNUM, 32), "FASTLY_API_KEY={}"),
        "datadog": (r(HEX, 40), "datadog_app_key: {}"),
        "new relic": ("NRAK-" + r(UPPER + DIGITS, 27), "new_relic_user_key={}"),
        "sentry": ("sntryu_" + r(HEX, 64), "SENTRY_AUTH_TOKEN={}"),
        "grafana": ("glsa_" + r(ALNUM, 32) + "_" + r(HEX, 8), "grafana {}"),
        "postman": (f"PMAK-{r(HEX, 24)}-{r(HEX, 34)}", "X-Api-Key: {}"),
        "linear": ("lin_api_" + r(ALNUM, 40), "Authorization: {}"),
        "notion": ("ntn_" + r(DIGITS, 11) + r(ALNUM, 35), "NOTION_TOKEN={}"),
        "airtable": (f"pat{r(ALNUM, 14)}.{r(HEX, 64)}", "airtable pat {}"),
        "databricks": ("dapi" + r(HEX, 32), "databricks configure --token {}"),
        "pulumi": ("pul-" + r(HEX, 40), "PULUMI_ACCESS_TOKEN={}"),
        "terraform": (f"{r(ALNUM, 14)}.atlasv1.{r(URLSAFE, 67)}", 'credentials "app.terraform.io" {{ token = "{}" }}'),
        "vault": ("hvs." + r(URLSAFE, 95), "VAULT_TOKEN={}"),
        "planetscale": ("pscale_tkn_" + r(ALNUM, 43), "{}"),
        "doppler": ("dp.pt." + r(ALNUM, 43), "doppler {}"),
        "supabase": ("sb_secret_" + r(URLSAFE, 31), "SUPABASE_SECRET_KEY={}"),
        "supabase personal": ("sbp_" + r(HEX, 40), "supabase login --token {}"),
        "langsmith": (f"lsv2_pt_{r(HEX, 32)}_{r(HEX, 10)}", "LANGSMITH_API_KEY={}"),
        "age key": ("AGE-SECRET-KEY-1" + r("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58), "{}"),
        "netrc": (r(ALNUM, 14), "machine api.local login bob password {}"),
        "netrc over lines": (r(ALNUM, 14), "machine api.local\n  login bob\n  password {}\n"),
        "kubeconfig": (r(ALNUM, 48), "users:\n- name: admin\n  user:\n    token: {}\n"),
        "kubeconfig key": (r(BASE64, 400) + "==", "    client-key-data: {}"),
        "bearer in curl": (r(ALNUM, 40), 'curl -H "Authorization: Bearer {}" https://api.local'),
        "bitbucket": ("ATBB" + r(ALNUM, 28), "curl -u me:{} https://api.bitbucket.org"),
        "mailgun in a call": ("key-" + r(HEX, 32), "curl --user 'api:{}' https://api.mailgun.net/v3"),
        "mailchimp alone": (r(HEX, 32) + "-us6", "key {}"),
        "braintree": (f"access_token$production${r(LOWER + DIGITS, 16)}${r(HEX, 32)}", "braintree {}"),
        "npm login": (r(BASE64, 32), "_auth={}"),
        "nuget": ("oy2" + r(LOWER + DIGITS, 43), "dotnet nuget push x.nupkg --api-key {}"),
        "cargo": ("cio" + r(ALNUM, 32), '[registry]\ntoken = "{}"'),
        "pgpass": (r(ALNUM, 14), "db.internal:5432:prod:app:{}"),
        "mysql": (r(ALNUM, 14), "mysql -h db -u root -p{} app"),
        "curl": (r(ALNUM, 14), "curl -u bob:{} https://api.local"),
        "heroku, new": (f"HRKU-{r(HEX, 8)}-{r(HEX, 4)}-{r(HEX, 4)}-{r(HEX, 4)}-{r(HEX, 12)}", "{}"),
        "new relic alone": ("NRAK-" + r(UPPER + DIGITS, 27), "{}"),
        "sentry alone": ("sntrys_" + r(BASE64, 120), "{}"),
        "circleci": ("CCIPAT_" + r(ALNUM, 22) + "_" + r(HEX, 40), "{}"),
        "buildkite": ("bkua_" + r(HEX, 40), "{}"),
        "airtable token": ("pat" + r(ALNUM, 14) + "." + r(HEX, 64), "key {}"),
        "elevenlabs": ("sk_" + r(HEX, 48), "xi-api-key: {}"),
        "firebase messaging": ("AAAA" + r(URLSAFE, 7) + ":APA91b" + r(URLSAFE, 134), "server key {}"),
        "vercel": (r(ALNUM, 24), "VERCEL_TOKEN={}"),
        "gitlab parameter": (r(ALNUM, 20), "https://git.acme.dev/api/v4/projects?private_token={}"),
        "figma": ("figd_" + r(URLSAFE, 40), "X-Figma-Token: {}"),
        "notion, old": ("secret_" + r(ALNUM, 43), "notion {}"),
        "tailscale": (f"tskey-auth-{r(ALNUM, 12)}CNTRL-{r(ALNUM, 32)}", "tailscale up --authkey {}"),
        "netlify, new": ("nfp_" + r(ALNUM, 36), "{}"),
        "a flag": ("7" + r(ALNUM, 23), "vercel deploy --token {}"),
        "django": ("django-insecure-" + r(HEX, 50), "SECRET_KEY = '{}'"),
        "laravel": ("base64:" + r(BASE64, 43) + "=", "APP_KEY={}"),
        "maven": (r(ALNUM, 14), "<server><id>x</id><password>{}</password></server>"),
        "azure devops": (r(LOWER + DIGITS, 52), "AZURE_DEVOPS_EXT_PAT={}"),
        "putty": (r(BASE64, 64), "Private-Lines: 1\n{}\nPrivate-MAC: 00"),
        "wireless": ("7" + r(ALNUM, 13), 'network={{\n psk="{}"\n}}'),
        "url password": (r(ALNUM, 16), "amqps://svc:{}@mq.local:5671/%2f"),
    }  # fmt: skip
    return {kind: (secret, text.format(secret)) for kind, (secret, text) in found.items()}


KINDS = kinds(7)


def redacted_text(value: object) -> str:
    return json.dumps(Redactor().value(value)).replace("\\", "")


@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_of_every_kind_is_removed(kind: str) -> None:
    for seed in (7, 8, 9):
        secret, text = kinds(seed)[kind]
        for shown in (text, f"see ({text}), or:\n> {text}\n", json.dumps({"content": text})):
            assert secret.replace("\\", "") not in redacted_text([shown]), shown


def test_secrets_in_mappings_are_recognised_by_their_keys() -> None:
    login, token = KINDS["docker config"][0], KINDS["kubeconfig"][0]
    shown = redacted_text({"auths": {"ghcr.io": {"auth": login}}, "user": {"token": token}})
    assert login not in shown
    assert token not in shown


def test_text_that_only_looks_like_a_secret_stays() -> None:
    text = (
        "the token: 4096 tokens were used; auth: none; login bob password: see the vault\n"
        "hf_model_for_images_of_walls_and_doors, sb_secret_santa, bot12 at api.telegram.org/docs\n"
        "Makefile: cc -o walls \\\n    walls.c doors.c \\\n    -lm\n"
        "AKIAIOSFODNN7EXAMPLE is the key of the documentation; M.A.B; NOTE.part.of.a.sentence.that.goes.on\n"
    )
    assert Redactor().value(text) == text


def test_redaction_time_is_linear_in_the_text() -> None:
    """Twice the text takes about twice the time, of what begins like many secrets and is none."""
    import time

    def seconds(times: int) -> float:
        text = (
            "api_key token: sk- xoxb- lob facebook heroku auth login a password secret= \\\n eyJ AKIA https://x:"
            * times
        )
        began = time.process_time()
        Redactor().value(text)
        return time.process_time() - began

    seconds(10)
    short, long = seconds(200), seconds(800)
    assert long < 10 * short + 0.05
