/** `sluice migrate`: copies the data folder into the database that a team shares. */

import { type Command, Option } from 'commander';
import { claimFolder } from '../data-folder/claim-folder.ts';
import { type Environment, readEnvironment } from '../engine/environment.ts';
import { type Examples, notes } from './help.ts';
import { createOutput, type Output } from './output.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { line, verdict } from './shown.ts';
import type { Terminal } from './terminal.ts';

interface MigrateFlags {
  to: string;
  dataDir?: string;
  json?: boolean;
}

const migrateHelp = `
Nothing may run on the data folder meanwhile; it stays as it is. If it is interrupted, run it again: what was copied is not
copied twice. Credentials and keys that are stored are encrypted with SLUICE_PASSPHRASE or the key in SLUICE_KEY_FILE.`;

export const migrateExamples: Examples = {
  migrate: [
    'sluice migrate --from sqlite --to postgres://sluice:env:DATABASE_PASSWORD@db.internal/sluice',
    'sluice migrate --to postgres --data-dir /var/lib/sluice',
  ],
};

export function addMigrate(program: Command, terminal: Terminal): void {
  const migrate = program
    .command('migrate')
    .description('copy configuration, secrets, jobs and ledger into a PostgreSQL database')
    .addOption(
      new Option('--from <store>', 'what to copy: the SQLite files of the data folder')
        .choices(['sqlite'])
        .default('sqlite'),
    )
    .requiredOption('--to <address>', 'postgres://…, env:NAME or file:PATH; "postgres": that of SLUICE_STORE')
    .option('--data-dir <folder>', 'the data folder')
    .option('--json', 'print JSON')
    .addHelpText('after', notes(migrateHelp));
  migrate.action(async () => {
    const flags = migrate.opts<MigrateFlags>();
    const environment = readEnvironment(terminal.env);
    const output = createOutput(terminal, flags.json ?? false);
    const dataDir = flags.dataDir ?? environment.dataDir;
    const claim = await claimFolder(dataDir);
    if ('holder' in claim) {
      throw new CliError(`Sluice is running on ${dataDir}. End it first: sluice stop`, exitCodes.alreadyRunning);
    }
    try {
      await copy({ dataDir, address: addressOf(flags.to, environment) }, { environment, terminal, output });
    } finally {
      await claim.lock.release();
    }
  });
}

function addressOf(target: string, { store }: Environment): string {
  if (target !== 'postgres') return target;
  if (store === undefined) throw new CliError('Name the database: --to postgres://… or SLUICE_STORE.', exitCodes.usage);
  return store;
}

interface Circumstances {
  environment: Environment;
  terminal: Terminal;
  output: Output;
}

async function copy(source: { dataDir: string; address: string }, { environment, terminal, output }: Circumstances) {
  const { passphrase, keyFile, secrets, sessionBus } = environment;
  const { importFolder } = await import('../store/postgres/import-folder.ts');
  const note = (_fields: object, message: string) => output.note(message);
  const progress = output.progress();
  const { compared, notices, ...imported } = await importFolder({
    ...source,
    env: terminal.env,
    key: { passphrase, keyFile },
    secrets,
    sessionBus,
    log: { warn: note, error: note },
    progress: (requests) => progress.at(`${requests} requests copied`),
  });
  progress.end();
  notices.forEach(output.note);
  const ok = compared.every(({ isSame }) => isSame);
  const lines = compared.map(({ what: sum, before, after, isSame }) =>
    line(verdict(isSame), `  ${sum}: ${before} here, ${after} there`),
  );
  output.show({ ok, ...imported, compared }, [...lines, `${imported.secrets} secrets copied`]);
  if (!ok) process.exitCode = exitCodes.failure;
}
