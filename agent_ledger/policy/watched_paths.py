"""Files that run by themselves, and those that say who may log in."""

from __future__ import annotations

import re

_STARTS = re.compile(
    r"""(?:^|/)(?:
      \.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zprofile|zsh(?:env)|zlogin|zlogout
      |cshrc|tcshrc|kshrc|xinitrc|xprofile|xsessionrc|inputrc|envrc|vimrc|gdbinit|pythonrc|irbrc)
    | \.config/(?:fish/.+\.fish|autostart/.+|systemd/user/.+|environment\.d/.+|nushell/.+|powershell/.+profile\.ps1)
    | \.git/hooks/[^/]+ | \.husky/[^/]+ | library/launchagents/.+ | \.config/git/hooks/.+ | hooks/(?:pre
      |post)-[a-z-]+(?:\.d/.+)?
    | \.ssh/rc | \.local/share/systemd/user/.+
    )$
    | ^/etc/(?:profile|bash\.bashrc|bashrc|zsh/.+|profile\.d/.+|cron(?:tab|\.(?:d|daily|hourly|weekly|monthly)/.+)
      |rc\.local|init\.d/.+|systemd/system/.+|udev/rules\.d/.+
      |xdg/autostart/.+|ld\.so\.preload|update-motd\.d/.+|network/if-up\.d/.+|apt/apt\.conf\.d/.+|modprobe\.d/.+
      |environment|skel/.+)$
    | ^/var/spool/(?:cron|at)/.+ | ^(?:/usr)?/lib/systemd/system/.+ | ^/library/launch(?:daemons|agents)/.+ | (?:^
      |/)sitecustomize\.py$ | (?:^|/)usercustomize\.py$""",
    re.IGNORECASE | re.VERBOSE,
)
_ACCOUNTS = re.compile(
    r"""^/etc/(?:passwd|shadow|group|gshadow|su[d]oers|doas\.conf|pam\.d/.+|su[d]oers\.d/.+|polkit-1/.+|security/.+
      |ld\.so\.preload)-?$
    | (?:^|/)\.ssh/authori[z]ed_keys2?$ | ^/etc/ssh/(?:sshd_config|authori[z]ed_keys).*$ | (?:^|/)\.rhosts$
    | ^/etc/hosts\.equiv$""",
    re.IGNORECASE | re.VERBOSE,
)
_LONGEST = 1024  # characters of a path


def starts_by_itself(path: str) -> bool:
    """True for files whose content a shell, cron, a service manager or git runs without being asked."""
    return len(path) <= _LONGEST and _STARTS.search(path) is not None


def is_account_file(path: str) -> bool:
    """True for files that say who may log in or become root."""
    return len(path) <= _LONGEST and _ACCOUNTS.search(path) is not None
