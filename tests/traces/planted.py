"""Secrets made up on the spot, of every kind that is removed, as they stand in the wild: (kind, secret, text that shows it)."""

from __future__ import annotations

import base64
import json
import random
import string

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def secrets(seed: int) -> list[tuple[str, str, str]]:
    """One secret of each form, other ones for each seed."""
    draw = random.Random(seed)

    def some(length: int, of: str = ALNUM) -> str:
        return "".join(draw.choices(of, k=length - 2)) + "a7"

    def packed(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    jwt = f"{packed({'alg': 'HS256', 'typ': 'JWT'})}.{packed({'sub': some(8)})}.{some(43)}"
    password, session = some(6) + "!" + some(5), some(32)
    body = "\n".join(some(64, ALNUM + "+/") for _ in range(6))
    pem = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    basic = base64.b64encode(f"bob:{password}".encode()).decode()
    bare = {
        "jwt": jwt,
        "private_key": pem,
        "aws_key": "AKIA" + some(14, string.ascii_uppercase).upper() + "Q7",
        "openai": "sk-proj-" + some(64, ALNUM + "_-"),
        "openai_old": "sk-" + some(48),
        "anthropic": "sk-ant-api03-" + some(93, ALNUM + "_-") + "AA",
        "openrouter": "sk-or-v1-" + some(64, HEX),
        "groq": "gsk_" + some(52),
        "huggingface": "hf_" + some(34),
        "google": "AIza" + some(35),
        "github": "ghp_" + some(36),
        "github_fine": "github_pat_" + some(82, ALNUM + "_"),
        "gitlab": "glpat-" + some(20),
        "slack": f"xoxb-{some(12, string.digits)}-{some(24)}",
        "stripe": "sk_live_" + some(24),
        "sendgrid": f"SG.{some(22)}.{some(43)}",
        "npm": "npm_" + some(36),
        "langsmith": f"lsv2_pt_{''.join(draw.choices(HEX, k=32))}_{''.join(draw.choices(HEX, k=10))}",
        "databricks": "dapi" + "".join(draw.choices(HEX, k=30)) + "a7",
    }
    told = [(kind, secret, f"use {secret} for this") for kind, secret in bare.items()]
    aws, azure, opaque, query, key = some(40), some(86) + "==", some(40), some(24), some(28)
    return [
        *told,
        ("bearer", opaque, f"curl -H 'Authorization: Bearer {opaque}' https://api.local/v1"),
        ("basic", basic, f"Authorization: Basic {basic}"),
        ("url_password", password, f"psql postgres://bob:{password}@db.local:5432/x"),
        ("cookie", session, f"Set-Cookie: sid={session}; Path=/; HttpOnly"),
        ("aws_secret", aws, f"AWS_SECRET_ACCESS_KEY={aws}"),
        ("azure", azure, f"AccountName=x;AccountKey={azure};EndpointSuffix=y"),
        ("url_key", query, f"GET https://api.local/v1?q=walls&api_key={query}"),
        ("assigned", key, f'client_secret: "{key}"'),
        ("assigned", key, f"export SMTP_PASS={key}"),
        ("azure", azure, f"AZURE_STORAGE_KEY={azure}"),
        ("capitals", "correct-horse", "export DB_PASSWORD=correct-horse"),
        ("quoted", "open 9 sesame", "os.environ['DB_PASSWORD'] = 'open 9 sesame'"),
        ("flag", password, f"tool --password {password} ."),
    ]


ORDINARY = """
The bearer of this letter is authorised. Bearer authentication_is_required for /v1/models
set OPENAI_API_KEY=$KEY or api_key = os.environ["OPENAI_API_KEY"].
Use https://user:password@host:5432/db as a pattern, or postgres://$USER:$PASS@host.
Cookie: I like cookies. The token count is 4711, max_tokens=4096.
sk-RCNN-Object_Detection-for-walls-and-doors is a model
sk_learn_pipeline_v2_final_7; task-12345678901234567890; commit 3f9a1c027b6d54e8aa01bb23cc45dd67ee89ff01.
the password is wrong; password: required; "password": "Forgot password?"; f(password=user.password2)
password: str = Field(...); secret_name: Optional[str]; "access_token": "<your token>"
Authorization: Bearer ${TOKEN}; key=walls_by_level; 550e8400-e29b-41d4-a716-446655440000
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 at 2024-05-15T15:00:00Z by bob@example.org in /home/bob/src/eyJust/a.py
"""
"""Text that looks a little like secrets and holds none."""
