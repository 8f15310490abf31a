import { describe, expect, test } from 'vitest';
import { readAddress, resolveAddress } from '../../../../server/store/postgres/open-database.ts';

describe('the address of a database', () => {
  test.each([
    ['postgres://sluice:secret@db.example:5433/team', { host: 'db.example:5433', user: 'sluice', database: 'team' }],
    ['postgresql://a%40b@db.example', { host: 'db.example', user: 'a@b', database: 'a@b' }],
    ['postgres://sluice@%2Frun%2Fpostgresql/team', { host: '/run/postgresql', user: 'sluice', database: 'team' }],
    ['postgres:///team', { host: 'localhost', user: '', database: 'team' }],
  ])('%s is read', (url, address) => {
    expect(readAddress(url)).toEqual(address);
  });

  test.each([
    'db.example',
    'https://db.example/team',
    'postgres://us%er:secret@db.example/team',
    'postgres://user:secret%@db.example/team',
    'postgres://user:secret@db.example/te%am',
  ])('%s is refused, with what to write and without the password', (url) => {
    let message = '';
    try {
      readAddress(url);
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain('postgres://USER:PASSWORD@HOST:PORT/DATABASE');
    expect(message).not.toContain('secret');
  });

  test.each([
    ['postgres://u@db/t?sslmode=require', 'postgres://u@db/t?sslmode=verify-full'],
    [
      'postgres://u@db/t?application_name=x&sslmode=verify-ca&x=1',
      'postgres://u@db/t?application_name=x&sslmode=verify-full&x=1',
    ],
    ['postgres://u@db/t?sslmode=disable', 'postgres://u@db/t?sslmode=disable'],
    ['postgres://u@db/t?sslmode=require&uselibpqcompat=true', 'postgres://u@db/t?sslmode=require&uselibpqcompat=true'],
  ])('%s verifies the certificate if it requests TLS', async (url, used) => {
    expect(await resolveAddress(url, {})).toBe(used);
  });

  test('and its password may be in variables', async () => {
    const env = { ADDRESS: ' postgres://u:env:PASSWORD@db/t?sslmode=require\n', PASSWORD: 'p@ss%' };
    expect(await resolveAddress('env:ADDRESS', env)).toBe('postgres://u:p%40ss%25@db/t?sslmode=verify-full');
    await expect(resolveAddress('env:NONE', env)).rejects.toMatchObject({ code: 'invalid_value' });
  });
});
