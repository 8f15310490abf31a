import { describe, expect, test } from 'vitest';
import { hasValkey, startValkey } from '../../../support/valkey.ts';
import { openReplica } from './replicas.ts';

describe.runIf(hasValkey())('a server that wants a password', () => {
  test('gets it, and it is told nowhere', async () => {
    const valkey = await startValkey('--requirepass', 'top-secret');
    const replica = await openReplica(valkey.url);
    expect(replica.view.problem).toBeNull();
    await valkey.stop();
    await replica.limiter.refresh([]);
    expect(JSON.stringify([replica.view, replica.logged])).not.toContain('top-secret');
    await replica.close();
  });

  test('that refuses it ends the start with a line that says so', async () => {
    const valkey = await startValkey('--requirepass', 'right');
    const opening = openReplica(`valkey://:top-secret@127.0.0.1:${valkey.port}`);
    await expect(opening).rejects.toThrow(/Valkey at valkey:\/\/127\.0\.0\.1:\d+ refuses the password/);
    await expect(opening).rejects.not.toThrow(/top-secret/);
    await valkey.stop();
  });

  test('that refuses a user ends the start as well, even if it serves others without a password', async () => {
    const valkey = await startValkey();
    const opening = openReplica(`valkey://sluice:top-secret@127.0.0.1:${valkey.port}`);
    await expect(opening).rejects.toThrow(/refuses the user "sluice" or its password/);
    await valkey.stop();
  });

  test('that lets its user run no scripts ends the start with a line that says so', async () => {
    const valkey = await startValkey();
    await valkey.command('ACL', 'SETUSER', 'reader', 'on', '>top-secret', '~*', '+@read', '+info', '+select');
    const opening = openReplica(`valkey://reader:top-secret@127.0.0.1:${valkey.port}`);
    await expect(opening).rejects.toThrow(/refuses the user "reader".*ACL/);
    await valkey.stop();
  });
});
