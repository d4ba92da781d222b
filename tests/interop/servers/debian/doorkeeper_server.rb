# Doorkeeper in a Rails application, with its extension for OpenID Connect: what the
# generators of both write, in one file.
ENV["RAILS_ENV"] = "production"
ENV["SECRET_KEY_BASE"] = "interop"

require "rails"
require "active_record/railtie"
require "action_controller/railtie"
require "sprockets/railtie"
require "doorkeeper"
require "doorkeeper/openid_connect"

port = ENV.fetch("UPSTREAM_PORT").to_i
origin = "http://127.0.0.1:#{port}"
ENV["DATABASE_URL"] = "sqlite3:data/doorkeeper.sqlite3?timeout=5000"

class User < ActiveRecord::Base; end

class Application < Rails::Application
  config.root = __dir__
  config.load_defaults 6.1
  config.eager_load = false
  config.logger = Logger.new($stderr, level: :warn)
  config.assets.unknown_asset_fallback = true
  routes.append do
    use_doorkeeper
    use_doorkeeper_openid_connect
  end
end

Doorkeeper.configure do
  orm :active_record
  # Each browser has an account of its own, as consent is asked for once.
  resource_owner_authenticator { User.find(session[:user] ||= User.create!.id) }
  default_scopes :read
  optional_scopes :write, :openid
  grant_flows %w[authorization_code client_credentials]
  use_refresh_token
  allow_token_introspection { |_token, client| client&.uid == "resource" }
  force_ssl_in_redirect_uri false
end

Doorkeeper::OpenidConnect.configure do
  issuer origin
  signing_key OpenSSL::PKey::RSA.new(2048).to_pem
  protocol { :http }
  subject_types_supported [:public]
  resource_owner_from_access_token { |token| User.find(token.resource_owner_id) }
  auth_time_from_resource_owner { |_user| Time.now }
  reauthenticate_resource_owner { |_user, return_to| redirect_to return_to }
  subject { |user| user.id.to_s }
end

Application.initialize!

ActiveRecord::Schema.verbose = false
ActiveRecord::Schema.define do
  create_table(:users)
  create_table :oauth_applications do |t|
    t.string :name, :uid, :secret, null: false
    t.text :redirect_uri
    t.string :scopes, null: false, default: ""
    t.boolean :confidential, null: false, default: true
    t.timestamps
  end
  create_table :oauth_access_grants do |t|
    t.references :resource_owner, :application, null: false
    t.string :token, null: false, index: { unique: true }
    t.integer :expires_in, null: false
    t.text :redirect_uri, null: false
    t.datetime :created_at, null: false
    t.datetime :revoked_at
    t.string :scopes, null: false, default: ""
    t.string :code_challenge, :code_challenge_method
  end
  create_table :oauth_access_tokens do |t|
    t.references :resource_owner
    t.references :application, null: false
    t.string :token, null: false, index: { unique: true }
    t.string :refresh_token, index: { unique: true }
    t.integer :expires_in
    t.datetime :revoked_at
    t.datetime :created_at, null: false
    t.string :scopes
    t.string :previous_refresh_token, null: false, default: ""
  end
  create_table :oauth_openid_requests do |t|
    t.references :access_grant, null: false
    t.string :nonce, null: false
  end
end

redirect_uri = ENV.fetch("REDIRECT_URI")
[%w[interop secret], %w[resource secret], ["service", "s3cret/+ %"]]
  .each do |uid, secret|
    Doorkeeper::Application.create!(
      name: uid, uid: uid, secret: secret, redirect_uri: redirect_uri,
      scopes: "read write openid"
    )
  end

require "rack/handler/puma"
Rack::Handler::Puma.run(
  Application, Host: "127.0.0.1", Port: port, Threads: "5:5", Silent: true
)
