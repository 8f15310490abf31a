/** `sluice passphrase`: changes the key that stored secrets are encrypted with, in the shared database or the data folder. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { counted } from '../contract/units.ts';
import { claimFolder } from '../data-folder/claim-folder.ts';
import { type Environment, readEnvironment } from '../engine/environment.ts';
import { type Examples, notes } from './help.ts';
import { createOutput, type Output } from './output.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import type { Terminal } from './terminal.ts';

interface PassphraseFlags {
  dataDir?: string;
  json?: boolean;
}

const changeHelp = `
The former one is in SLUICE_PASSPHRASE or SLUICE_KEY_FILE, the new one in SLUICE_NEW_PASSPHRASE or SLUICE_NEW_KEY_FILE. With
SLUICE_STORE, replicas run on meanwhile, and take the new key over; both open the secrets until "sluice passphrase finish". In a
data folder, nothing may run meanwhile. If it is interrupted, run it again: it is done as a whole or not at all.`;

const finishHelp = `
Run it with the new SLUICE_PASSPHRASE or SLUICE_KEY_FILE, once all replicas were started with that.`;

export const passphraseExamples: Examples = {
  'passphrase change': [
    'sluice passphrase change',
    'docker compose exec -e SLUICE_NEW_PASSPHRASE sluice-1 sluice passphrase change',
  ],
  'passphrase finish': ['sluice passphrase finish', 'sluice passphrase finish --json'],
};

export function addPassphraseVerbs(program: Command, terminal: Terminal): void {
  const passphrase = program
    .command('passphrase')
    .description('change the passphrase that stored secrets are encrypted with');
  const add = (name: string, description: string, help: string, run: (use: Use) => Promise<void>) => {
    const command = passphrase.command(name).description(description).addHelpText('after', notes(help));
    command.option('--data-dir <folder>', 'the data folder').option('--json', 'print JSON');
    command.action(async () => {
      const flags = command.opts<PassphraseFlags>();
      const environment = readEnvironment(terminal.env);
      const dataDir = flags.dataDir ?? environment.dataDir;
      await run({ environment, dataDir, terminal, output: createOutput(terminal, flags.json ?? false) });
    });
  };
  add('change', 'encrypt all stored secrets with a new one', changeHelp, change);
  add('finish', 'let the former one open nothing any more', finishHelp, finish);
}

interface Use {
  environment: Environment;
  dataDir: string;
  terminal: Terminal;
  output: Output;
}

async function change(use: Use): Promise<void> {
  const { environment, terminal, output } = use;
  const passphrase = terminal.env.SLUICE_NEW_PASSPHRASE || undefined;
  const keyFile = terminal.env.SLUICE_NEW_KEY_FILE || undefined;
  if ((passphrase === undefined) === (keyFile === undefined)) {
    throw new CliError('Set SLUICE_NEW_PASSPHRASE or SLUICE_NEW_KEY_FILE to the new one.', exitCodes.usage);
  }
  const isShared = environment.store !== undefined;
  const { secrets, isChanged } = isShared
    ? await inDatabase(use, (store, postgres, former) =>
        store.changeSealingKey(postgres, former, { passphrase, keyFile }),
      )
    : await changeInFolder(use, passphrase);
  const which = keyFile === undefined ? 'passphrase' : 'key';
  const variable = keyFile === undefined ? 'SLUICE_PASSPHRASE' : 'SLUICE_KEY_FILE';
  const next = isShared
    ? `Restart the replicas one by one with the new ${variable}, then: sluice passphrase finish`
    : `Start Sluice with the new ${variable}.`;
  const done = `${counted(secrets, 'secret')} ${isChanged ? '' : 'already '}${secrets === 1 ? 'is' : 'are'} encrypted with the new ${which}.`;
  output.show({ secrets, changed: isChanged }, [done, next]);
  if (isShared) await noteLogins(use, passphrase !== undefined);
}

/** A replica that has joined another gateway has its sign-in in its data folder, which it may be using. */
async function noteLogins({ dataDir, environment, output }: Use, isPassphrase: boolean): Promise<void> {
  const { encryptedFileName, loginsFolder } = await import('../secrets/encrypted-file.ts');
  const path = join(loginsFolder(dataDir), encryptedFileName);
  if (environment.passphrase === undefined || !existsSync(path)) return;
  const how = isPassphrase
    ? `Between the end of its replica and the start with the new one: env -u SLUICE_STORE sluice passphrase change --data-dir ${dataDir}`
    : 'A key file does not open it: leave that gateway before the restart, and join it again afterwards.';
  output.note(`The sign-in to another gateway in ${path} is still encrypted with the former passphrase. ${how}`);
}

async function finish(use: Use): Promise<void> {
  if (use.environment.store === undefined) {
    throw new CliError('Only in a shared database is there something to finish: set SLUICE_STORE.', exitCodes.usage);
  }
  const isFinished = await inDatabase(use, (store, postgres, outside) => store.finishKeyChange(postgres, outside));
  use.output.show(
    { finished: isFinished },
    isFinished ? 'The former passphrase or key opens nothing any more.' : 'No change was under way.',
  );
}

type SealedSecrets = typeof import('../store/postgres/secret-store.ts');
type Postgres = Parameters<SealedSecrets['finishKeyChange']>[0];
type OutsideKey = Parameters<SealedSecrets['finishKeyChange']>[1];

async function inDatabase<T>(
  { environment: { store = '', passphrase, keyFile }, terminal, output }: Use,
  work: (store: SealedSecrets, postgres: Postgres, outside: OutsideKey) => Promise<T>,
): Promise<T> {
  const { withDatabase } = await import('../store/postgres/open-database.ts');
  const sealed = await import('../store/postgres/secret-store.ts');
  const log = { warn: (_fields: object, message: string) => output.note(message) };
  return withDatabase({ address: store, env: terminal.env, log }, (postgres) =>
    work(sealed, postgres, { passphrase, keyFile }),
  );
}

async function changeInFolder({ environment, dataDir }: Use, next: string | undefined) {
  if (next === undefined) {
    throw new CliError(
      'A key file seals secrets in a shared database only: set SLUICE_NEW_PASSPHRASE.',
      exitCodes.usage,
    );
  }
  const claim = await claimFolder(dataDir);
  if ('holder' in claim) {
    throw new CliError(`Sluice is running on ${dataDir}. End it first: sluice stop`, exitCodes.alreadyRunning);
  }
  try {
    const { changeFolderPassphrase } = await import('../secrets/encrypted-file.ts');
    return await changeFolderPassphrase(dataDir, environment.passphrase, next);
  } finally {
    await claim.lock.release();
  }
}
