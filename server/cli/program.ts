/**
 * The command line: which verbs there are, what they take, and how a failure ends. What a verb does is in the file of its
 * name, and is imported only when it runs.
 */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { EnvironmentError, readEnvironment } from '../environment.ts';
import { version } from '../version.ts';
import { addAliasVerbs } from './alias.ts';
import { addDoctor } from './doctor.ts';
import { CliError, exitCodes } from './exit-codes.ts';
import { addGroupVerbs } from './group.ts';
import { addKeyVerbs } from './key.ts';
import { addLogVerb } from './log.ts';
import { createOutput } from './output.ts';
import { addProviderVerbs } from './provider.ts';
import { addRouteVerbs } from './route.ts';
import { addTeamPresetVerbs } from './team-preset.ts';
import type { Terminal } from './terminal.ts';
import { addTransferVerbs } from './transfer.ts';
import { addUsageVerb } from './usage.ts';
import { createVerbs } from './verb.ts';
import { addWindowVerb } from './window.ts';

const introduction = `Sluice: one OpenAI base URL on this machine, your own keys, every provider.

Verbs besides "serve" work on the Sluice that runs on the data folder, or on the folder itself if none runs.`;

const environmentHelp = `
Environment:
  SLUICE_DATA_DIR      the data folder, if --data-dir does not name it
  SLUICE_PASSPHRASE    protects the encrypted file of secrets, in place of its key file
  SLUICE_SECRETS       where secrets are kept: auto (default), keychain or file
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY    the way to providers; also in small letters
  NODE_EXTRA_CA_CERTS  a PEM file with more certificate authorities

Exit codes: 0 done, 1 failed, 2 wrong arguments, 3 another Sluice runs on the data folder.`;

/** Runs what the arguments ask for, and sets the exit code of the process. */
export async function runCommandLine(terminal: Terminal): Promise<void> {
  const output = createOutput(terminal, terminal.argv.includes('--json'));
  whenNobodyReads(terminal);
  try {
    await createProgram(terminal).parseAsync(terminal.argv, { from: 'user' });
  } catch (error) {
    process.exitCode = exitCodeOf(error);
    // Commander has said it already.
    if (!(error instanceof CommanderError)) output.fail(error);
  }
}

/** A closed pipe ends a verb (`sluice log --follow | head`) and is nothing to the gateway, which has other readers. */
function whenNobodyReads({ argv, stdout, stderr }: Terminal): void {
  stderr.on('error', () => {});
  stdout.on('error', () => {
    if (argv[0] !== 'serve') process.exit(exitCodes.ok);
  });
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CliError) return error.exitCode;
  if (error instanceof EnvironmentError) return exitCodes.usage;
  if (!(error instanceof CommanderError)) return exitCodes.failure;
  return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
}

function createProgram(terminal: Terminal): Command {
  const program = new Command('sluice')
    .description(introduction)
    .version(version)
    .addHelpText('after', environmentHelp)
    .showHelpAfterError('(see --help)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      writeErr: (text) => void terminal.stderr.write(text),
    });
  addServe(program, terminal);
  const verbs = createVerbs(terminal);
  addKeyVerbs(program, verbs);
  addProviderVerbs(program, verbs);
  addGroupVerbs(program, verbs);
  addAliasVerbs(program, verbs);
  addRouteVerbs(program, verbs);
  addLogVerb(program, verbs);
  addUsageVerb(program, verbs);
  addTransferVerbs(program, verbs);
  addTeamPresetVerbs(program, verbs);
  addWindowVerb(program, verbs);
  addDoctor(program, verbs);
  return program;
}

interface ServeFlags {
  port?: number;
  host?: string;
  dataDir?: string;
  config?: string;
  open?: boolean;
  json?: boolean;
}

function addServe(program: Command, terminal: Terminal): void {
  program
    .command('serve')
    .description('start the gateway; it runs until it is stopped (Ctrl+C, SIGTERM)')
    .addOption(new Option('--port <number>', 'the port; 0 takes any free one (default: 4810)').argParser(parsePort))
    .option('--host <address>', 'the address to listen on (default: 127.0.0.1; anything else opens it to the network)')
    .option('--data-dir <folder>', 'where configuration, secrets and ledger are')
    .option('--config <file>', 'run on a declarative configuration, which Sluice does not change')
    .option('--open', 'show the window in the browser')
    .option('--json', 'print one line of JSON when it is ready, and nothing else on stdout')
    .action(async (flags: ServeFlags) => {
      const environment = readEnvironment(terminal.env);
      const { serve } = await import('./serve.ts');
      await serve(
        {
          dataDir: flags.dataDir ?? environment.dataDir,
          environment,
          port: flags.port,
          host: flags.host,
          configFile: flags.config,
          open: flags.open ?? false,
          json: flags.json ?? false,
        },
        terminal,
      );
    });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('A port is a number from 0 to 65535.');
}
