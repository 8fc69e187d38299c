"""Shapes of secrets that are known by their look alone: tokens, private key blocks, credentials in URLs."""

from __future__ import annotations

import re

from . import lazily

MARK = "[redacted]"

# Every shape holds a run of at least RUN letters, digits, "_" or "-": the gate relies on it.
RUN = 16
_SHAPES = (
    r"gh[pousr]_[A-Za-z0-9_]{16,}",  # GitHub
    r"github_pat_[A-Za-z0-9_]{16,}",
    r"sk-(?:[A-Za-z0-9]{1,20}[-_]){0,6}(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{8,}[A-Za-z0-9_-]{5,}",  # OpenAI and its likes
    r"sk-(?:[A-Za-z0-9]{1,20}[-_]){0,6}[A-Za-z0-9]{24,}[A-Za-z0-9_-]*",
    r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}",  # Stripe, Clerk
    r"sk_[0-9a-f]{32,}",
    r"whsec_[A-Za-z0-9+/=]{16,}",
    r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{12,}",  # AWS
    r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{11,}",  # Slack
    r"xapp-[A-Za-z0-9-]{11,}",
    r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/-]{16,}",
    r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{5,25}/[\w-]{16,}",
    r"AIza[\w-]{20,}",  # Google
    r"ya29\.[\w-]{16,}",
    r"GOCSPX-[\w-]{16,}",
    r"1//0[\w-]{20,}",
    r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|oas|soat|agent)-[\w.-]{16,}",  # GitLab
    r"hf_[A-Za-z0-9]{16,}",
    r"npm_[A-Za-z0-9]{16,}",
    r"pypi-(?:AgE[\w-]{13,}|(?=[A-Za-z_-]{0,60}\d)[\w-]{32,})",
    r"do[opr]_v1_[A-Za-z0-9]{16,}",  # DigitalOcean
    r"SG\.[\w-]{16,}(?:\.[\w-]+)?",  # SendGrid
    r"key-[0-9a-f]{32}",  # Mailgun
    r"[0-9a-f]{32}-us\d{1,2}",  # Mailchimp
    r"dapi[0-9a-f]{16,}(?:-\d+)?",  # Databricks
    r"shp(?:at|ca|pa|ss|tka)_[A-Fa-f0-9]{16,}",  # Shopify
    r"(?:AGE-SECRET-KEY-1|AGE-PLUGIN-)[A-Za-z0-9-]{16,}",
    r"hv[sbr]\.[\w-]{16,}",  # Vault
    r"SK[0-9a-f]{32}",  # Twilio
    r"eyJ[\w-]{13,1024}\.(?:eyJ[\w-]{4,}|[\w-]{16,})(?:\.[\w-]*){0,3}",  # JWT; bounded: long runs stay cheap
    r"eyJ(?:hbGci|0eXAi|raWQi|lbmMi|jdHki|6aXAi)[\w-]{8,}(?:\.[\w-]*){0,4}",
    r"\d{8,10}:[\w-]{35}(?![\w-])",  # Telegram
    r"[MNO][A-Za-z\d_-]{23,27}\.[\w-]{6}\.[\w-]{20,}",  # Discord
    r"mfa\.[\w-]{60,}",
    r"[\w~.-]{3}\dQ~[\w~.-]{30,40}",  # Azure applications
    r"(?:lin_api|lin_oauth|ntn|sbp|sb_secret|fm2|r8|gsk|e2b|nfp|rnd|bkua|tfp|glsa|rubygems)_(?=[A-Za-z]{0,40}\d)"
    r"[A-Za-z0-9]{13,}[A-Za-z0-9_-]*",
    r"(?:figd|dckr_pat|dckr_oat|lsv2_pt|lsv2_sk|pscale_tkn|pscale_pw|pscale_oauth|sntrys|sntryu|CCIPAT)_[A-Za-z0-9_+/=-]{16,}",
    r"(?:ops|glc)_eyJ[\w+/=-]{13,}",
    r"secret_[A-Za-z0-9]{40,}",  # Notion
    r"re_(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{6,}_[A-Za-z0-9]{16,}",  # Resend
    r"(?:ATCTT3|ATATT3|ATBB|EZAK|EZTK|AKCp)[A-Za-z0-9_=-]{16,}",  # Atlassian, EasyPost, JFrog
    r"oy2[a-z0-9]{40,}",  # NuGet
    r"(?:sq0[a-z]{3}|EAAA|HRKU|NRAK|NRII|PMAK|xai|pplx|nvapi|tvly|tskey|pul)-(?=[A-Za-z_-]{0,40}\d)[A-Za-z0-9_-]{16,}",
    r"fc-[0-9a-f]{32}",
    r"d(?:p\.(?:pt|st|ct)|t0c01)\.[\w.-]{16,}",  # Doppler, Dynatrace
    r"v1\.0-[0-9a-f]{24}-[0-9a-f]{60,}",  # Cloudflare
    r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{20,}",  # Terraform
    r"pat[A-Za-z0-9]{14}\.[0-9a-f]{32,}",  # Airtable
)
_ANY = "|".join(_SHAPES)
# A token begins where no word goes on; an escape of JSON, of a URL or of a terminal's colour may stand right before it.
TOKEN = lazily.pattern(
    rf"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{{4}})|(?<=%[0-9A-Fa-f]{{2}})|(?<=[0-9\[]m))(?:{_ANY})",
    re.ASCII,
)
TOKEN_ANYWHERE = lazily.pattern(
    _ANY.replace("{13,1024}", "{13}|eyJ"), re.ASCII
)  # for the gate: more than TOKEN, never less

_BEGIN = r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-{4,5}"
_END = r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-{4,5}"
# Unterminated blocks reach to the end of the text: their end was cut away, not their secret.
KEY_BLOCK = lazily.pattern(
    rf"{_BEGIN}.*?(?:{_END}|\Z)|PuTTY-User-Key-File-\d.*?(?:Private-(?:MAC|Hash): ?[0-9a-fA-F]+|\Z)", re.DOTALL
)
KEY_BLOCK_END = lazily.pattern(_END)
KEY_LINE = lazily.pattern(r"[A-Za-z0-9+/]{8,80}={0,2}")

_URL_CHARS = r"\s/\"'<>\\`"
URL_USER = lazily.pattern(
    rf"(?<=://)(?:([^:{_URL_CHARS}]{{0,256}}+):([^{_URL_CHARS}]{{1,512}})@|([^:@{_URL_CHARS}]{{20,256}}+)@)"
)
DSN_USER = lazily.pattern(r"(?<![\w.-])([\w.-]{1,64}+):([^\s@/:\"']{1,128}+)@(?=(?:tcp|unix)\()")

# What stands in place of a secret: a variable, a command, a placeholder, a mark.
REFERENCE = lazily.pattern(
    r"\$\{?[A-Za-z_]\w*(?::\?[^}]*)?\}?|\$\{\{[^{}]*\}\}|\$env:\w+|\$\((?:[^()]|\([^()]*\))*\)|%[A-Za-z_]\w*%|\{\{[^{}]*\}\}|"
    r"<[^<>]*>|\*{3,}|\[redacted\]|\.{3}|…",
    re.ASCII,
)
