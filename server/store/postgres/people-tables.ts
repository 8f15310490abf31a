/** Tables for people who sign in, their sessions and tokens, and the audit list. See people/people-store.ts. */
export const peopleTables = `
  CREATE TABLE people (
    id text PRIMARY KEY, issuer text NOT NULL, subject text NOT NULL, name text NOT NULL, email text,
    claimed json NOT NULL, signed_in_at double precision NOT NULL
  );
  CREATE TABLE accesses (
    hash text PRIMARY KEY, id text NOT NULL UNIQUE, person_id text NOT NULL, scopes json, name text,
    created_at double precision NOT NULL, expires_at double precision NOT NULL
  );
  CREATE INDEX accesses_of_person ON accesses (person_id, created_at);
  CREATE INDEX accesses_by_end ON accesses (expires_at);
  CREATE TABLE audit (
    seq bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, at double precision NOT NULL, person_id text, person_name text,
    token_id text, address text, action text NOT NULL, target text, changes json NOT NULL
  );
  CREATE INDEX audit_by_time ON audit (at);
`;
