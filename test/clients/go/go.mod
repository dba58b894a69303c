module github.com/tinkernetes/tinkernetes/test/clients/go

go 1.26
