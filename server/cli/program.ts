/** The command line: its commands and exit codes. The engine is imported only by commands that need it. */
import { Command, CommanderError, Option } from 'commander';
import type { CassetteMode } from '../contract/cassette.ts';
import { GatewayError } from '../contract/errors.ts';
import { goneWords } from '../contract/removed-features.ts';
import { EnvironmentError, readEnvironment } from '../engine/environment.ts';
import { version } from '../ground/version.ts';
import { addAliasVerbs, aliasExamples } from './alias.ts';
import { addCacheVerbs, cacheExamples } from './cache.ts';
import { addCaptureVerbs, captureExamples } from './capture.ts';
import {
  addCassetteExport,
  addCassetteUseVerbs,
  addCassetteVerbs,
  cassetteExamples,
  cassetteExportExamples,
  cassetteModeOption,
  cassetteUseExamples,
  paceOption,
} from './cassette-verbs.ts';
import { addCompareVerb, compareExamples } from './compare.ts';
import { addCompletion, completionExamples } from './complete.ts';
import { addConnectVerb, connectExamples } from './connect.ts';
import { addDoctor, doctorExamples } from './doctor.ts';
import { addEnvVerb, envExamples } from './env.ts';
import { addFaultVerbs, faultExamples } from './faults.ts';
import { addGroupVerbs, groupExamples } from './group.ts';
import { completeHelp, type Examples, notes, shapeHelp } from './help.ts';
import { addKeyVerbs, keyExamples } from './key.ts';
import { addLogVerb, logExamples } from './log.ts';
import { addMigrate, migrateExamples } from './migrate.ts';
import { createOutput, endWithOutput, wholeOutput } from './output.ts';
import { addPassphraseVerbs, passphraseExamples } from './passphrase.ts';
import { addPricesVerbs, pricesExamples } from './prices.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { addProviderVerbs, providerExamples } from './provider.ts';
import { addRouteVerbs, routeExamples } from './route.ts';
import { addRun, runExamples } from './run.ts';
import type { ServeOptions } from './serve.ts';
import {
  addShutdownOptions,
  parsePort,
  parsePublicUrl,
  parseTrustedProxy,
  readShutdownTimes,
  type ShutdownFlags,
  storeTimeoutOption,
} from './serve-options.ts';
import { addServiceVerbs, serviceExamples } from './service.ts';
import { addSessionVerbs, sessionExamples } from './session.ts';
import { addSettingsVerbs, settingsExamples } from './settings.ts';
import { addStatusVerb, addStop, statusExamples } from './status.ts';
import { type LoadTeam, partFor, type TeamCommands } from './team.ts';
import { addTeamPresetVerbs, teamPresetExamples } from './team-preset.ts';
import type { Terminal } from './terminal.ts';
import { addApplyVerb, addTransferVerbs, applyExamples, transferExamples } from './transfer.ts';
import { addUsageVerb, usageExamples } from './usage.ts';
import { createVerbs } from './verb.ts';
import { visibleOutput } from './visible-output.ts';
import { addWindowVerb, windowExamples } from './window.ts';
import { completeUsage, helpAsked } from './wrong-usage.ts';

const introduction = `Sluice: one local address for every AI tool and every provider.

Without a command, Sluice runs as with "serve", or tells the state of the one that is running. Other commands use the Sluice running on the data folder, or the folder itself if none is running.`;

const environmentHelp = `
Environment:
  SLUICE_DATA_DIR      the data folder, unless --data-dir is given
  SLUICE_TOKEN         an API token for --gateway, instead of "sluice login"
  SLUICE_PASSPHRASE    encrypts the file of secrets, instead of a key file
  SLUICE_SECRETS       where secrets are kept: auto (default), keychain or file
  SLUICE_STORE         the database of "serve --store", which commands without a running Sluice use as well
  SLUICE_KEY_FILE      a file with the key that encrypts secrets in that database, instead of SLUICE_PASSPHRASE
  SLUICE_FAST_PATHS    "off" to do without optimisations that reach into Node, if one of them is suspected of an error
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY    proxies to providers; also in lower case
  NODE_EXTRA_CA_CERTS  a PEM file with additional certificate authorities

Exit codes: 0 done; 1 failed, refused, or not there (a key, a provider); 2 wrong arguments, which are wrong whatever the gateway
has, so that nothing was done; 3 another Sluice is running on the data folder. "run", "record", "replay" and "faults run" end
with that of their program.`;

/** Runs the command given by the arguments and sets the process's exit code. */
export async function runCommandLine(given: Terminal, loadTeam?: () => Promise<TeamCommands>): Promise<void> {
  const isBare = given.argv.length === 0;
  const terminal = {
    ...given,
    // `npx sluice` is the shortest way to a running gateway.
    argv: isBare ? ['serve'] : given.argv,
    stdout: visibleOutput(wholeOutput(given.stdout)),
    stderr: visibleOutput(given.stderr),
  };
  const output = createOutput(terminal, terminal.argv.includes('--json'));
  endWithOutput(terminal, output);
  try {
    refuseGone(terminal.argv);
    // Each file costs time at a start, so `serve` loads these only with an option that needs them.
    const team = terminal.argv[0] === 'serve' ? undefined : await loadTeam?.();
    const program = createProgram(terminal, team, async () => loadTeam?.());
    await program.parseAsync(helpAsked(program, terminal.argv), { from: 'user' });
  } catch (error) {
    if (isBare && exitCodeOf(error) === exitCodes.alreadyRunning) {
      return runCommandLine({ ...given, argv: ['status', '--short'] }, loadTeam);
    }
    process.exitCode = exitCodeOf(error);
    // Help, which Commander has already printed.
    if (!(error instanceof CommanderError)) output.fail(error);
  }
}

function refuseGone(argv: readonly string[]): void {
  const answer = goneWords(argv);
  if (answer !== null) throw new CliError(answer, exitCodes.usage);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CliError) return error.exitCode;
  if (error instanceof EnvironmentError) return exitCodes.usage;
  // Presets are those of the program, whatever the gateway's configuration.
  if (error instanceof GatewayError && error.problem?.code === 'no-preset') return exitCodes.usage;
  if (!(error instanceof CommanderError)) return exitCodes.failure;
  return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
}

/** `team`: absent in a build without the part for teams. */
export function createProgram(terminal: Terminal, team?: TeamCommands, loadTeam: LoadTeam = async () => team): Command {
  const program = shapeHelp(new Command('sluice'), terminal)
    .description(introduction)
    .version(version, '-V, --version', 'print the version')
    .addHelpText('after', notes(environmentHelp))
    .enablePositionalOptions();
  addServe(program, terminal, loadTeam);
  addStop(program, terminal);
  addRun(program, terminal);
  addServiceVerbs(program, terminal);
  const verbs = createVerbs(terminal, (...address) => partFor('--gateway', team).openGateway(...address));
  addStatusVerb(program, verbs);
  addEnvVerb(program, verbs);
  addKeyVerbs(program, verbs);
  addProviderVerbs(program, verbs);
  addGroupVerbs(program, verbs);
  addAliasVerbs(program, verbs);
  addRouteVerbs(program, verbs);
  addLogVerb(program, verbs);
  addSessionVerbs(program, verbs);
  addCaptureVerbs(program, verbs);
  addCassetteVerbs(program, terminal);
  const cassette = program.command('cassette').description('cassettes in use; recordings as an HTTP Archive');
  addCassetteExport(cassette, terminal);
  addCassetteUseVerbs(cassette, verbs);
  addPricesVerbs(program, verbs);
  addCacheVerbs(program, verbs);
  addFaultVerbs(program, terminal, verbs);
  addCompareVerb(program, verbs);
  addUsageVerb(program, verbs);
  addSettingsVerbs(program, verbs);
  addTransferVerbs(program, verbs);
  addTeamPresetVerbs(program, verbs);
  addApplyVerb(program, verbs);
  addMigrate(program, terminal);
  addPassphraseVerbs(program, terminal);
  team?.addVerbs({ program, verbs, terminal });
  addConnectVerb(program, verbs);
  addWindowVerb(program, verbs);
  addDoctor(program, verbs);
  addCompletion(program, terminal);
  completeHelp(program, terminal, examplesOf(team));
  completeUsage(program);
  return program;
}

/** Examples for the help of all commands, which stand beside their verbs. */
export function examplesOf(team?: TeamCommands): Examples {
  return {
    ...serveExamples,
    ...statusExamples,
    ...runExamples,
    ...cassetteExamples,
    ...cassetteExportExamples,
    ...serviceExamples,
    ...migrateExamples,
    ...passphraseExamples,
    ...cassetteUseExamples,
    ...envExamples,
    ...keyExamples,
    ...providerExamples,
    ...groupExamples,
    ...aliasExamples,
    ...routeExamples,
    ...logExamples,
    ...sessionExamples,
    ...captureExamples,
    ...pricesExamples,
    ...cacheExamples,
    ...faultExamples,
    ...compareExamples,
    ...usageExamples,
    ...settingsExamples,
    ...transferExamples,
    ...teamPresetExamples,
    ...applyExamples,
    ...connectExamples,
    ...windowExamples,
    ...doctorExamples,
    ...completionExamples,
    ...team?.verbExamples,
  };
}

const serveHelp = `
Signals:
  SIGTERM, SIGINT   stop when running requests have ended, or after the grace period; a second signal stops at once
  SIGHUP            read the file of --config, and the files that secrets are in, again`;

interface ServeFlags extends ShutdownFlags {
  port?: number;
  host?: string;
  dataDir?: string;
  config?: string;
  store?: string;
  storeTimeout: number;
  shared?: string;
  cassette?: string;
  cassetteMode: CassetteMode;
  pace: number;
  publicUrl?: string;
  trustedProxy: string[];
  open?: boolean;
  detach?: boolean;
  json?: boolean;
}

const serveExamples: Examples = {
  serve: [
    'sluice serve',
    'sluice serve --detach',
    'sluice serve --config gateway.json --port 0 --json',
    'sluice serve --store postgres://sluice:env:DATABASE_PASSWORD@db.internal/sluice --host 0.0.0.0',
    'sluice serve --cassette cassettes --cassette-mode replay',
    'sluice serve --host 0.0.0.0 --public-url https://gateway.example --trusted-proxy 10.0.0.0/8',
  ],
};

function addServe(program: Command, terminal: Terminal, loadTeam: LoadTeam): void {
  const command = program
    .command('serve')
    .description('run the gateway until it is stopped (Ctrl+C, SIGTERM)')
    .addOption(new Option('--port <number>', 'the port; 0: any free one (default: 4810)').argParser(parsePort))
    .option('--host <address>', 'the address to listen on (default: 127.0.0.1; others expose it to the network)')
    .option('--data-dir <folder>', 'the folder of configuration, secrets and ledger')
    .option(
      '--config <file>',
      'use a declarative configuration, which Sluice reads again when it changes, and never writes',
    )
    .option(
      '--store <address>',
      'share configuration, jobs and ledger with other replicas: postgres://…, env:NAME or file:PATH (docs/shared-store.md)',
    )
    .addOption(storeTimeoutOption())
    .option(
      '--shared <url>',
      'count limits together with other replicas in Valkey: valkey://USER:PASSWORD@HOST:PORT, env:NAME or file:PATH',
    )
    .option('--cassette <folder>', 'record all requests in this folder, or answer them from there')
    .addOption(cassetteModeOption())
    .addOption(paceOption())
    .addOption(
      new Option('--public-url <url>', 'let people sign in at this address (setting "people")').argParser(
        parsePublicUrl,
      ),
    )
    .addOption(
      new Option(
        '--trusted-proxy <address>',
        'trust the client addresses that this proxy or network forwards; may be repeated',
      )
        .argParser(parseTrustedProxy)
        .default([]),
    )
    .option('--open', 'open the window in the browser')
    .option('--detach', 'continue in the background when ready; "sluice stop" stops it')
    .option('--json', 'print one line of JSON once it is ready, and nothing else on stdout');
  addShutdownOptions(command)
    .addHelpText('after', notes(serveHelp))
    .action(async (flags: ServeFlags) => {
      if (flags.detach) {
        const { serveDetached } = await import('./detach.ts');
        return serveDetached(terminal);
      }
      const { serve } = await import('./serve.ts');
      await serve(serveOptions(flags, terminal), terminal, loadTeam);
    });
}

function serveOptions(flags: ServeFlags, { env }: Terminal): ServeOptions {
  const { store, ...environment } = readEnvironment(env);
  const { cassette, cassetteMode: mode, pace, publicUrl: publicOrigin, trustedProxy: trustedProxies } = flags;
  return {
    dataDir: flags.dataDir ?? environment.dataDir,
    environment: { ...environment, store: flags.store ?? store },
    port: flags.port,
    host: flags.host,
    configFile: flags.config,
    shared: flags.shared,
    cassette: cassette === undefined ? undefined : { folder: cassette, mode, pace },
    shutdown: readShutdownTimes(flags),
    storeTimeoutMs: flags.storeTimeout * 1000,
    people: publicOrigin === undefined ? undefined : { publicOrigin, trustedProxies },
    open: flags.open ?? false,
    json: flags.json ?? false,
  };
}
