# The portal. Clients that register receive an id and a secret with a slash, as 6 of
# 10 do by chance.
use Lemonldap::NG::Portal::Main;
use Lemonldap::NG::Portal::Issuer::OpenIDConnect;

my $name   = 'Lemonldap::NG::Portal::Issuer::OpenIDConnect::random_string';
my $random = \&$name;
*$name = sub { my $text = $random->(@_); substr( $text, 1, 1 ) = '/'; $text };

Lemonldap::NG::Portal::Main->run( {} );
