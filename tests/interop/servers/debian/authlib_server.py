"""Authlib with Flask and SQLAlchemy, put together as its documentation does."""
import os
import time

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.integrations.sqla_oauth2 import (
    OAuth2AuthorizationCodeMixin,
    OAuth2ClientMixin,
    OAuth2TokenMixin,
    create_query_client_func,
    create_query_token_func,
    create_revocation_endpoint,
    create_save_token_func,
)
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import grants
from authlib.oauth2.rfc7591 import ClientRegistrationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc7662 import IntrospectionEndpoint
from flask import Flask, jsonify, render_template_string, request
from flask_sqlalchemy import SQLAlchemy

ORIGIN = "http://127.0.0.1:" + os.environ["UPSTREAM_PORT"]
METHODS = ["client_secret_basic", "client_secret_post", "none"]
METADATA = {
    "issuer": ORIGIN,
    "authorization_endpoint": ORIGIN + "/authorize",
    "token_endpoint": ORIGIN + "/token",
    "registration_endpoint": ORIGIN + "/register",
    "revocation_endpoint": ORIGIN + "/revoke",
    "introspection_endpoint": ORIGIN + "/introspect",
    "scopes_supported": ["read", "write"],
    "response_types_supported": ["code"],
    "grant_types_supported": [
        "authorization_code", "refresh_token", "client_credentials",
    ],
    "token_endpoint_auth_methods_supported": METHODS,
    "code_challenge_methods_supported": ["S256"],
}

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
app = Flask(__name__)
app.config.update(
    SQLALCHEMY_DATABASE_URI="sqlite://",
    OAUTH2_REFRESH_TOKEN_GENERATOR=True,
)
db = SQLAlchemy(app)


class User(db.Model):
    id = db.Column(db.Integer, primary_key=True)

    def get_user_id(self):
        return self.id


class Client(db.Model, OAuth2ClientMixin):
    id = db.Column(db.Integer, primary_key=True)


class Code(db.Model, OAuth2AuthorizationCodeMixin):
    id = db.Column(db.Integer, primary_key=True)
    user_id = db.Column(db.Integer)


class Token(db.Model, OAuth2TokenMixin):
    id = db.Column(db.Integer, primary_key=True)
    user_id = db.Column(db.Integer)


def save(item):
    db.session.add(item)
    db.session.commit()
    return item


class CodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = METHODS

    def save_authorization_code(self, code, request):
        return save(Code(
            code=code,
            client_id=request.client.client_id,
            redirect_uri=request.redirect_uri,
            scope=request.scope,
            user_id=request.user.id,
            code_challenge=request.data.get("code_challenge"),
            code_challenge_method=request.data.get("code_challenge_method"),
        ))

    def query_authorization_code(self, code, client):
        item = Code.query.filter_by(code=code, client_id=client.client_id).first()
        return item if item and not item.is_expired() else None

    def delete_authorization_code(self, authorization_code):
        db.session.delete(authorization_code)
        db.session.commit()

    def authenticate_user(self, authorization_code):
        return db.session.get(User, authorization_code.user_id)


class RefreshGrant(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = METHODS
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token):
        item = Token.query.filter_by(refresh_token=refresh_token).first()
        return item if item and not item.refresh_token_revoked_at else None

    def authenticate_user(self, credential):
        return db.session.get(User, credential.user_id)

    def revoke_old_credential(self, credential):
        now = int(time.time())
        credential.access_token_revoked_at = now
        credential.refresh_token_revoked_at = now
        save(credential)


class Introspection(IntrospectionEndpoint):
    query_token = staticmethod(create_query_token_func(db.session, Token))

    def check_permission(self, token, client, request):
        return client.client_id == "resource"

    def introspect_token(self, token):
        is_active = not token.is_revoked() and not token.is_expired()
        return {"active": is_active, "scope": token.scope}


class Registration(ClientRegistrationEndpoint):
    def authenticate_token(self, request):
        return True

    def get_server_metadata(self):
        return METADATA

    def save_client(self, client_info, client_metadata, request):
        client = Client(**client_info)
        client.set_client_metadata(client_metadata)
        return save(client)


server = AuthorizationServer(
    app,
    query_client=create_query_client_func(db.session, Client),
    save_token=create_save_token_func(db.session, Token),
)
server.register_grant(CodeGrant, [CodeChallenge(required=True)])
server.register_grant(RefreshGrant)
server.register_grant(grants.ClientCredentialsGrant)
server.register_endpoint(create_revocation_endpoint(db.session, Token))
server.register_endpoint(Introspection)
server.register_endpoint(Registration)


@app.get("/.well-known/oauth-authorization-server")
def metadata():
    return jsonify(METADATA)


@app.route("/authorize", methods=["GET", "POST"])
def authorize():
    user = db.session.get(User, 1)
    if request.method == "GET":
        try:
            server.get_consent_grant(end_user=user)
        except OAuth2Error as error:
            return jsonify(dict(error.get_body())), error.status_code
        return render_template_string(
            '<form method="post"><button name="confirm" value="yes">Allow</button>'
            '<button name="confirm" value="no">Deny</button></form>'
        )
    is_confirmed = request.form["confirm"] == "yes"
    return server.create_authorization_response(
        grant_user=user if is_confirmed else None
    )


@app.post("/token")
def token():
    return server.create_token_response()


@app.post("/register")
def register():
    return server.create_endpoint_response("client_registration")


@app.post("/revoke")
def revoke():
    return server.create_endpoint_response("revocation")


@app.post("/introspect")
def introspect():
    return server.create_endpoint_response("introspection")


@app.delete("/clients/<client_id>")
def delete_client(client_id):
    db.session.delete(Client.query.filter_by(client_id=client_id).first())
    db.session.commit()
    return ""


with app.app_context():
    db.create_all()
    save(User())
    save(Client(client_id="resource", client_secret="secret"))
    service = Client(client_id="service", client_secret="s3cret/+ %")
    service.set_client_metadata({
        "grant_types": ["client_credentials"],
        "scope": "read write",
    })
    save(service)
app.run(port=int(os.environ["UPSTREAM_PORT"]), threaded=False)
