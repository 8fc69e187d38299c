"""What database clients and migration tools are told to do."""

from __future__ import annotations

import pytest

from agent_ledger.policy.effects import database, datastores, migrations
from tests.policy.recording import PROJECT, judged, lines

PROGRAMS = {**database.PROGRAMS, **datastores.PROGRAMS, **migrations.PROGRAMS}

# line => language and text that must be handed on
STATEMENTS = """
psql -c 'SELECT 1' => sql SELECT 1
psql -qtAc 'SELECT 1' shop => sql SELECT 1
psql --command='SELECT 1' => sql SELECT 1
psql -h db -U me -d shop --command 'SELECT 1' => sql SELECT 1
psql postgres://me@db/shop -c 'SELECT 1' => sql SELECT 1
psql shop <<< SELECT 1 => sql SELECT 1
psql -d shop_test -c 'X DATABASE shop' => sql X DATABASE shop
mysql -e 'SELECT 1' => sql SELECT 1
mysql -uroot -psecret shop -e 'SELECT 1' => sql SELECT 1
mysql -pabcde -Dshop --execute='SELECT 1' => sql SELECT 1
mariadb shop <<< SELECT 1 => sql SELECT 1
sqlite3 shop.db 'SELECT 1' => sql SELECT 1
sqlite3 -header -csv shop.db 'SELECT 1' => sql SELECT 1
sqlite3 shop.db <<< SELECT 1 => sql SELECT 1
duckdb shop.duckdb -c 'SELECT 1' => sql SELECT 1
mongosh shop --quiet --eval 'db.x.count()' => mongo db.x.count()
mongo --host db shop <<< db.x.count() => mongo db.x.count()
redis-cli -h cache -p 6380 --tls GET k => redis GET k
redis-cli -u redis://cache SET k 'a b' => redis SET k "a b"
redis-cli <<< GET k => redis GET k
valkey-cli -n 3 GET k => redis GET k
sqlcmd -S db -U sa -P pw -Q 'SELECT 1' => sql SELECT 1
clickhouse-client --host db --query='SELECT 1' => sql SELECT 1
cqlsh db 9042 -e 'SELECT 1' => sql SELECT 1
influx -database x -execute 'SELECT 1' => sql SELECT 1
snowsql -q 'SELECT 1' => sql SELECT 1
beeline -u jdbc:hive2://db -e 'SELECT 1' => sql SELECT 1
trino --server db --execute 'SELECT 1' => sql SELECT 1
sqlplus -s me/pw <<< SELECT 1 => sql SELECT 1
bq query --nouse_legacy_sql 'SELECT 1' => sql SELECT 1
typeorm query 'SELECT 1' -d ds.ts => sql SELECT 1
rails runner 'puts 1' => ruby puts 1
manage.py shell -c 'print(1)' => python print(1)
manage.py dbshell <<< SELECT 1 => sql SELECT 1
artisan tinker --execute='echo 1;' => php echo 1;
turso db shell shop 'SELECT 1' => sql SELECT 1
"""

SILENT = """
psql
psql -l
psql --version
psql shop_test -c 'SELECT 1'
psql -d test -f x.sql
psql postgres://me@db/app_test?sslmode=off -c 'SELECT 1'
PGDATABASE=ci psql -c 'SELECT 1'
mysql -D test_shop -e 'SELECT 1'
sqlite3 :memory: 'SELECT 1'
sqlite3 /tmp/x.db 'SELECT 1'
sqlite3 tests/fixtures/x.db 'SELECT 1'
sqlite3 -readonly shop.db 'SELECT 1'
sqlite3 <<< SELECT 1
mongosh app_test --eval 'db.x.count()'
redis-cli
redis-cli --version
redis-cli --scan --pattern x
dropdb --help
dropdb app_test
dropdb --if-exists test
pg_restore -l x.dump
pg_restore -d shop x.dump
pg_restore --clean -d app_test x.dump
pg_restore -c -f out.sql x.dump
mongorestore dump/
mongorestore --drop --db app_test dump/
mysqladmin status
mysqladmin -uroot -ppw drop app_test
mysqladmin flush-privileges
curl http://localhost:9200/users
curl -X DELETE http://localhost:3000/users
curl -X DELETE http://localhost:9200/users/_doc/7
curl -X DELETE http://localhost:9200/users_test
curl -X DELETE https://api.example.com/v1/items/1
curl -X POST http://localhost:9200/users/_search -d '{"query":{"match_all":{}}}'
curl -X POST http://localhost:9200/users/_delete_by_query -d '{"query":{"term":{"id":1}}}'
rabbitmqctl list_queues
kafka-topics --list
kafka-topics.sh --delete --topic orders-test --bootstrap-server k:9092
bq ls
bq rm -f -t scratch.x
rails db:migrate
rails db:rollback STEP=1
rails db:create db:schema:load db:seed
rails db:test:prepare
RAILS_ENV=test rake db:reset
rake db:drop RAILS_ENV=test
rails db:drop -e test
rails -T db:drop
rails server
rails generate migration drop_users
manage.py migrate
manage.py migrate app 0003
manage.py migrate app zero --plan
manage.py sqlflush
manage.py flush --settings=app.settings.test
DJANGO_SETTINGS_MODULE=app.settings.testing manage.py flush
django-admin startproject x
artisan migrate
artisan migrate --force
artisan migrate:rollback --step=1
artisan migrate:refresh --step=1
artisan migrate:fresh --env=testing
artisan migrate:fresh --pretend
APP_ENV=testing artisan db:wipe
artisan cache:clear
prisma migrate dev
prisma migrate deploy
prisma db push
prisma studio
DATABASE_URL=postgres://x/app_test prisma migrate reset --force
sequelize db:migrate:undo
sequelize-cli db:drop --env test
knex migrate:rollback
knex migrate:rollback --all --env test
alembic downgrade -1
alembic downgrade base --sql
alembic current
flask db upgrade
flask run
flyway migrate
flyway info
flyway -url=jdbc:postgresql://db/app_test clean
liquibase update
dbmate up
dbmate down
typeorm migration:revert
migrate -path m -database postgres://x/shop up
migrate -path m -database postgres://x/shop down 1
goose down
diesel migration redo
sqlx migrate run
mix ecto.migrate
MIX_ENV=test mix ecto.drop
mix test
dotnet ef database update
dotnet test
console doctrine:database:drop --force --env=test
console doctrine:schema:drop --dump-sql
console cache:clear
mvn clean install
gradle clean build
drush cr
wp db export
wp plugin delete hello
celery -A app worker
nats stream ls
turso db list
pscale branch create shop x
atlas schema inspect
"""

DESTROYS = """
dropdb shop
dropdb -h db -U me --if-exists shop
dropdb $NAME
dropuser shop
pg_restore --clean --if-exists -d shop x.dump
pg_restore -c --dbname=shop x.dump
mongorestore --drop dump/
mysqladmin -uroot -psecret -f drop shop
mariadb-admin drop shop
curl -XDELETE localhost:9200/users
curl -s -X DELETE http://elastic.example.com/users
curl --request DELETE https://me:pw@search.es.example.com/users
curl -X DELETE http://localhost:9200/*
curl -X DELETE http://localhost:5984/shop
curl -X DELETE http://localhost:9200/_snapshot/backups/one
curl -X POST localhost:9200/users/_delete_by_query -H 'x: y' -d '{"query":{"match_all":{}}}'
cypher-shell -u neo4j 'MATCH (n) DETACH DELETE n'
influx bucket delete -n metrics
influx delete --bucket metrics --start 1970-01-01T00:00:00Z --stop 2030-01-01T00:00:00Z
rabbitmqctl purge_queue orders
rabbitmqctl -n rabbit@a delete_vhost shop
kafka-topics --bootstrap-server k:9092 --delete --topic orders
bq rm -r -f shop
sqlite-utils drop-table shop.db users
rails db:drop
rails db:drop:primary db:create
rake db:reset
rails db:migrate:reset
RAILS_ENV=production DISABLE_DATABASE_ENVIRONMENT_CHECK=1 rails db:schema:load
manage.py flush
manage.py reset_db --noinput
manage.py migrate shop zero
artisan migrate:fresh --seed
artisan db:wipe --force
artisan migrate:reset
prisma migrate reset --force
prisma db push --force-reset
prisma db push --accept-data-loss --schema x.prisma
sequelize db:drop
sequelize-cli db:migrate:undo:all
knex migrate:rollback --all
alembic -c x.ini downgrade base
flask db downgrade base
flyway clean
flyway -url=jdbc:postgresql://db/shop -user=me clean
mvn flyway:clean
gradlew flywayClean
liquibase dropAll
dbmate --url postgres://db/shop drop
typeorm schema:drop -d ds.ts
mikro-orm schema:drop --run
migrate -path m -database postgres://db/shop drop -f
migrate -path m -database postgres://db/shop down
goose postgres dsn reset
diesel database reset
sqlx database drop -y
mix ecto.reset
ace migration:fresh
dotnet ef database drop --force
console doctrine:database:drop --force
drush sql-drop -y
wp db reset --yes
turso db destroy shop -y
pscale database delete shop --force
celery -A app purge -f
nats stream purge ORDERS -f
atlas schema clean -u postgres://db/shop
"""


@pytest.mark.parametrize("line", lines(STATEMENTS))
def test_statements_are_handed_on(line: str) -> None:
    """Whatever option, operand or input holds a statement, the judge of its language gets it."""
    command, _, expected = line.partition(" =>")
    language, _, text = expected.strip().partition(" ")
    assert judged(PROGRAMS, command).said == [("code", language, text)]


@pytest.mark.parametrize("line", lines(SILENT))
def test_harmless_and_test_databases_are_left_alone(line: str) -> None:
    """Nothing is noted and no statement judged for tests, dry runs, listings and steps forward."""
    recording = judged(PROGRAMS, line)
    assert (recording.whats, recording.said) == ([], [])


@pytest.mark.parametrize("line", lines(DESTROYS))
def test_what_drops_or_empties_is_noted(line: str) -> None:
    """Dropping, resetting and rolling back everything is a destruction."""
    assert judged(PROGRAMS, line).kinds[:1] == ["database_destruction"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("psql -f x.sql", ("run_file", f"{PROJECT}/x.sql", "sql")),
        ("psql shop --file=/srv/x.sql", ("run_file", "/srv/x.sql", "sql")),
        ("psql -c '\\i x.sql'", ("run_file", f"{PROJECT}/x.sql", "sql")),
        ("psql -c '\\! ls -l'", ("shell", "ls -l")),
        ("sqlite3 shop.db '.read x.sql'", ("run_file", f"{PROJECT}/x.sql", "sql")),
        ("sqlite3 shop.db '.shell ls'", ("shell", "ls")),
        ("mysql shop -e 'source x.sql'", ("run_file", f"{PROJECT}/x.sql", "sql")),
        ("sqlcmd -S db -i x.sql", ("run_file", f"{PROJECT}/x.sql", "sql")),
        ("mongosh shop x.js", ("run_file", f"{PROJECT}/x.js", "mongo")),
        ("sqlplus me/pw @x.sql", ("run_file", f"{PROJECT}/x.sql", "sql")),
        ("redis-cli --eval x.lua k", ("run_file", f"{PROJECT}/x.lua", "lua")),
        ("prisma db execute --file x.sql", ("run_file", f"{PROJECT}/x.sql", "sql")),
        ("rails runner x.rb", ("run_file", f"{PROJECT}/x.rb", "ruby")),
    ],
)
def test_scripts_and_shell_escapes_are_followed(line: str, said: tuple[str, ...]) -> None:
    """Files that a client reads, and shells that it starts, are judged too."""
    assert judged(PROGRAMS, line).said == [said]
