"""Which files and variables hold secrets."""

from __future__ import annotations

import fnmatch
import re

_NOT_SECRET = re.compile(
    r"""(?:
      \.(?:pub|example|sample|template|tmpl|dist|md|rst|enc|sops|gpg|asc|age|schema|lock)
    | \.(?:py|js|ts|tsx|jsx|go|rs|java|rb|php|c|h|cpp|cs|html|css)
    | [._-](?:example|sample|template|fake|dummy|test|mock)(?:\.[a-z]+)? | _fake | _test
    )$""",
    re.IGNORECASE | re.VERBOSE,
)
_PUBLIC = re.compile(r"\.(?:pub|example|sample|template|md)$", re.IGNORECASE)
_PLAY = re.compile(r"(?:^|/)(?:fixtures?|testdata|test-data|examples?|samples?|__fixtures__|mocks?)/", re.IGNORECASE)
_SECRET_NAME = re.compile(
    r"""^(?:
      \.env(?:\..+|rc)? | .+\.e[n]v | env\.(?:production|prod|local|secret)
    | id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:[._-].*)? | .*_(?:rsa|ed25519|ecdsa|dsa)
    | \.netrc | _netrc | \.pgpass | \.my\.cnf | \.git-credentials | \.pypirc | \.vault-token | \.s3cfg | \.boto
      | \.htpasswd | \.dockercfg
    | credentials(?:\.(?:json|csv|ya?ml|ini|db|tfrc\.json|xml))? | (?:service[-_]?account|client[-_]secret
      |gcp[-_]key|sa[-_]key).*\.json
    | application_default_credentials\.json | secrets?\.(?:ya?ml|json|toml|ini|txt|properties|env) | .*\.(?:p12|pfx
      |jks|keystore|kdbx|ppk|key|keychain|keychain-db|ovpn)
    | .*(?:private|priv|secret|server|client|host|tls|prod|deploy|ssl)[-_.]?key.*\.pem | .*-key\.pem
      | privkey.*\.pem | key\.pem | (?:prod|deploy|ec2|aws|root)\.pem | \*\.pem | \*\.key
    | shadow-? | gshadow-? | master\.key | credentials\.yml\.enc\.key
    | login\ data.* | cookies(?:\.sqlite|\.binarycookies)? | logins\.json | key[34]\.db | web\ data
    | rclone\.conf | accesstokens\.json | msal_token_cache.* | auth\.json | \.bash_history | \.zsh_history
      | \.psql_history | \.mysql_history
    | token(?:\.(?:json|txt|pickle))? | .*\.token | wallet\.dat | keystore\.json | kubeconfig.*
    )$""",
    re.IGNORECASE | re.VERBOSE,
)
_WEAK_NAMES = frozenset(
    {"cookies", "credentials", "token", "web data", "auth.json", "shadow", "gshadow", "shadow-", "gshadow-"}
)
_SECRET_PLACE = re.compile(
    r"""(?:^|/)(?:
      \.ssh/(?!config$|config\.d|known_hosts|environment$|authori[z]ed_keys|[^/]*\.pub$).+
      | \.gnupg/(?!gpg(?:-agent)?\.conf|dirmngr\.conf).+
    | \.aws/(?:credentials|sso/cache/.+|cli/cache/.+) | \.azure/.*(?:token|cred|profile).*
      | \.config/gcloud/.*(?:cred|token|legacy).*
    | \.config/gh/hosts\.ya?ml | \.config/(?:hub|glab-cli/config\.yml|doctl/config\.yaml|op/.+|sops/age/.+
      |rclone/rclone\.conf)
    | \.docker/config\.json | \.kube/(?:config|.+\.conf|cache/.+) | \.password-store/.+
      | \.terraform\.d/credentials.* | \.cargo/credentials.* | \.gem/credentials
    | \.config/(?:google-chrome|chromium|microsoft-edge|brave[^/]*)/.*/?(?:login\ data|cookies|web\ data).*
    | \.mozilla/firefox/.+/(?:logins\.json|key[34]\.db|cookies\.sqlite) | library/keychains/.+
      | library/application\ support/.+/(?:login\ data|cookies).*
    | \.hermes/(?:auth\.json|.*credentials.*|\.env) | \.config/(?:composer/auth\.json|hcloud/cli\.toml|configstore/.+)
    | \.netlify/config\.json | \.vercel/auth\.json | \.fly/config\.yml | \.heroku/.+ | \.databrickscfg
      | \.snowsql/config | \.local/share/keyrings/.+
    )$ | ^/proc/(?:\d+|self|\*)/environ$ | ^(?:/var)?/run/secrets/.+ | ^/etc/(?:shadow|gshadow)-?$
      | ^/etc/ssl/private/.+ | ^/etc/kubernetes/.*(?:\.conf|\.key)$
    | ^/etc/wireguard/.+ | ^/root/\.(?:ssh|aws|gnupg)/.+ | ^/etc/ssh/ssh_host_.*_key$ | ^/etc/krb5\.keytab$
      | ^/etc/ppp/.*secrets$ | ^/etc/letsencrypt/(?:live|archive)/.*privkey.*""",
    re.IGNORECASE | re.VERBOSE,
)
_SECRET_FOLDER = re.compile(
    r"""(?:^|/)(?:
      \.ssh | \.gnupg | \.aws | \.azure | \.kube | \.password-store | \.docker | \.config/(?:gcloud|google-chrome
      |chromium|gh)
    | library/keychains | \.local/share/keyrings | \.mozilla/firefox
    )/?\*?$ | ^/run/secrets/?$ | ^/etc/ssl/private/?$""",
    re.IGNORECASE | re.VERBOSE,
)
_WILD = re.compile(r"[*?]|\[[^\]]*\]")
_LONGEST = 1024  # characters of a path: longer ones name nothing that anybody keeps secrets in
_HOME_ONLY = re.compile(r"^\.(?:npmrc|yarnrc(?:\.yml)?|gitconfig\.local)$")


def is_secret(path: str, home: str) -> bool:
    """True where the content of this file is a key, a token or the like. Public keys, templates and sources are not."""
    name = path.rpartition("/")[2]
    if not name or len(path) > _LONGEST or _PLAY.search(path):
        return False
    if _SECRET_PLACE.search(path) and not _PUBLIC.search(name):
        return True
    if _NOT_SECRET.search(name):
        return False
    if any(char in name for char in "*?[") and fnmatch.fnmatchcase(".env", name) and len(_WILD.sub("", name)) > 2:
        return True
    lower = name.lower()
    if _SECRET_NAME.match(name):
        return lower not in _WEAK_NAMES or (lower in ("credentials", "token") and "/." in path)
    return _HOME_ONLY.match(name) is not None and path.rpartition("/")[0] == home


def is_secret_folder(path: str) -> bool:
    """True for a folder that mostly holds secrets, or everything in one."""
    return len(path) <= _LONGEST and _SECRET_FOLDER.search(path) is not None


_SECRET_WORD = re.compile(
    r"""(?:^|_)(?:
      api_?key | apikey | access_?key(?:_id)? | secret(?:_?(?:key|access_key))? | token | passw(?:or)?d | passphrase
    | credentials? | private_?key | auth | pat | webhook_url | database_url | dsn | conn(?:ection)?_string
    | signing_?key | encryption_?key | session_?key
    )(?:$|_) | (?:^|_)(?:pgpassword|mysql_pwd)$ | password$ | _pass$ | _key$""",
    re.IGNORECASE | re.VERBOSE,
)
_NOT_SECRET_WORD = re.compile(
    r"""(?:^|_)(?:ssh_auth_sock | token_(?:file|path|count|limit|type) | .*_(?:file|path|dir|id_file|url_base|name
      |public_key))$
    | ^(?:public_key|primary_key|foreign_key)$ | max_tokens""",
    re.IGNORECASE | re.VERBOSE,
)


def is_secret_variable(name: str) -> bool:
    """True for the name of an environment variable that holds a secret by its usual meaning."""
    return _SECRET_WORD.search(name) is not None and not _NOT_SECRET_WORD.search(name)
