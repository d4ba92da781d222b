"""django-oauth-toolkit with OpenID Connect, as in its tutorial."""
import os
import sys

import django
from django.conf import settings
from django.core.management import call_command
from django.urls import include, path
from jwcrypto.jwk import JWK

DATA = os.environ["DATA"]
PORT = os.environ["UPSTREAM_PORT"]
APPS = ["admin", "auth", "contenttypes", "sessions", "messages", "staticfiles"]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
CONTEXT = ["django.contrib.auth.context_processors.auth",
           "django.contrib.messages.context_processors.messages",
           "django.template.context_processors.request"]

settings.configure(
    SECRET_KEY="interop",
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    USE_TZ=True,
    STATIC_URL="/static/",
    LOGIN_URL="/admin/login/",
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    # The tables are created as they are now, without their history.
    MIGRATION_MODULES=dict.fromkeys(APPS + ["oauth2_provider"]),
    INSTALLED_APPS=["django.contrib." + app for app in APPS] + ["oauth2_provider"],
    MIDDLEWARE=MIDDLEWARE,
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    TEMPLATES=[{
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {"context_processors": CONTEXT},
    }],
    DATABASES={"default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": DATA + "/db.sqlite3",
    }},
    OAUTH2_PROVIDER={
        "OIDC_ENABLED": True,
        "OIDC_RSA_PRIVATE_KEY": JWK.generate(kty="RSA", size=2048)
        .export_to_pem(private_key=True, password=None).decode(),
        "SCOPES": {"openid": "Sign in", "read": "Read", "write": "Write"},
    },
)
django.setup()

from django.contrib import admin  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from oauth2_provider.models import Application  # noqa: E402

urlpatterns = [
    path("admin/", admin.site.urls),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
]


def register(client_id, client_secret, grant_type):
    Application.objects.create(
        client_id=client_id,
        client_secret=client_secret,
        client_type="confidential",
        authorization_grant_type=grant_type,
        redirect_uris=os.environ["REDIRECT_URI"],
        algorithm="RS256",
    )


call_command("migrate", run_syncdb=True, verbosity=0)
User.objects.create_superuser(
    "alice", os.environ["EMAIL"], os.environ["PASSWORD"]
)
register("interop", "secret", "authorization-code")
register("resource", "secret", "client-credentials")
register("service", "s3cret/+ %", "client-credentials")
sys.argv = ["django_server.py", "runserver"]
call_command("runserver", "127.0.0.1:" + PORT, "--noreload")
