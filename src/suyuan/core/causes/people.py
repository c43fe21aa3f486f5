"""Why a person may not do something, or an account cannot be changed."""

from __future__ import annotations

from ..cause import Cause
from ..errors import InvalidInput
from .web import Refused

# --- logging in
LOGIN_NEEDED = Cause(Refused, "people.login_needed", "login_needed")
LOGIN_WRONG = Cause(Refused, "people.login_wrong", "login_wrong")
LOGIN_TOO_OFTEN = Cause(Refused, "people.login_too_often", "login_too_often", retryable=True)
API_TOKEN_WRONG = Cause(Refused, "people.api_token_wrong", "api_token_wrong")

NO_ACCOUNT_HERE = Cause(Refused, "people.no_account_here", "no_account_here")
OIDC_REFUSED = Cause(Refused, "people.oidc_refused", "oidc_refused")
OIDC_NOT_SAFE = Cause(InvalidInput, "people.oidc_not_safe", "oidc_not_safe")

# --- what one may do
SCOPE_MISSING = Cause(Refused, "people.scope_missing", "scope_missing")
OWN_PASSWORD = Cause(Refused, "people.own_password", "own_password")
ADMIN_ONLY = Cause(Refused, "people.admin_only", "admin_only")
PERSON_QUOTA_SPENT = Cause(Refused, "people.quota_spent", "person_quota_spent", retryable=True)
NO_ACCOUNTS = Cause(InvalidInput, "people.no_accounts", "no_accounts")

# --- accounts
NAME_TAKEN = Cause(InvalidInput, "people.name_taken", "name_taken")
BAD_NAME = Cause(InvalidInput, "people.bad_name", "bad_name")
PASSWORD_WEAK = Cause(InvalidInput, "people.password_weak", "password_weak")
NO_SUCH_PERSON = Cause(InvalidInput, "people.no_such_person", "no_such_person")
LAST_ADMIN = Cause(InvalidInput, "people.last_admin", "last_admin")
BAD_SCOPE = Cause(InvalidInput, "people.bad_scope", "bad_scope")
NO_SUCH_TOKEN = Cause(InvalidInput, "people.no_such_token", "no_such_token")
NO_SUCH_SHARE = Cause(InvalidInput, "people.no_such_share", "no_such_share")
