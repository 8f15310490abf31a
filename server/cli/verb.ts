import type { Command } from 'commander';
import { type Environment, readEnvironment } from '../engine/environment.ts';
import type { Control } from './control.ts';
import { openControl } from './open-control.ts';
import { createOutput, type Output } from './output.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { loadWidths } from './shown.ts';
import type { Terminal } from './terminal.ts';
import { withHelp, withWayOn } from './wrong-usage.ts';

export interface VerbContext {
  control: Control;
  output: Output;
  terminal: Terminal;
  dataDir: string;
}

type VerbAction<Options> = (context: VerbContext, parameters: string[], options: Options) => Promise<void>;

/** Opens the control plane of a team's gateway. */
type OpenGateway = (address: string, dataDir: string, environment: Environment) => Promise<Control>;

export interface Verbs {
  /** Adds the common options to a command, and runs its action with the control plane of the data folder. */
  on<Options extends object>(command: Command, action: VerbAction<Options>): Command;
}

export function createVerbs(terminal: Terminal, openGateway: OpenGateway): Verbs {
  return {
    on<Options extends object>(command: Command, action: VerbAction<Options>) {
      return command
        .option('--data-dir <folder>', 'the data folder')
        .option('--gateway <url>', 'instead, a team gateway (see "sluice login")')
        .option('--json', 'print JSON')
        .action(async () => {
          const options = command.opts<Options & { dataDir?: string; gateway?: string; json?: boolean }>();
          const output = createOutput(terminal, options.json ?? false);
          if (terminal.stdout.isTTY) await loadWidths();
          const environment = readEnvironment(terminal.env);
          const dataDir = options.dataDir ?? environment.dataDir;
          const control =
            options.gateway === undefined
              ? await openControl(dataDir, {
                  environment,
                  env: terminal.env,
                  notice: output.note,
                  teamPresets: terminal.teamPresets,
                  loadTeam: terminal.loadTeam,
                })
              : await openGateway(options.gateway, dataDir, environment);
          try {
            await action({ control, output, terminal, dataDir }, command.args, options);
          } catch (error) {
            throw namingHelp(await withWayOn(error, control), command);
          } finally {
            await control.close();
          }
        });
    },
  };
}

/** Wrong arguments that only the verb could find, with its help if the message does not say what to do. */
function namingHelp(error: unknown, command: Command): unknown {
  const isUsage = error instanceof CliError && error.exitCode === exitCodes.usage;
  return isUsage && !/"sluice | --\w/.test(error.message) ? withHelp(error.message, command) : error;
}

/** Parser for a list option: `a,b`, or repeated. */
export function collectList(text: string, before: string[] = []): string[] {
  const items = text.split(',').map((item) => item.trim());
  return [...before, ...items.filter((item) => item !== '')];
}
