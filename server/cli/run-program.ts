/** Starts a program with a key. A key that was created for the program is revoked when the program ends. */

import { basename } from 'node:path';
import { dayMs } from '../contract/units.ts';
import { every } from '../ground/timers.ts';
import type { Control, ListeningControl } from './control.ts';
import { clientOrigin } from './env.ts';
import type { Output } from './output.ts';
import { startProgram } from './start-program.ts';
import type { Terminal } from './terminal.ts';

/** Which key the program uses: an existing one, or a new one in the given group. */
export interface RunChoices {
  key?: string;
  group?: string;
  model?: string;
}

interface RunContext {
  control: ListeningControl;
  output: Output;
  env: Terminal['env'];
  /** For files with the program's settings. */
  dataDir: string;
  around?: AroundRun | undefined;
}

interface RunKey {
  id: string;
  secret: string;
  /** Revokes the key, unless it existed before. */
  release(): Promise<void>;
}

/**
 * Called with the program's key before the program starts; resolves with a function to call once the program has ended.
 */
export type AroundRun = (control: Control, keyId: string) => Promise<() => Promise<void>>;

/** Resolves with the program's exit code once it has ended. */
export async function runProgram(line: readonly string[], choices: RunChoices, context: RunContext): Promise<number> {
  const { control, env, dataDir, around, output } = context;
  const program = basename(line[0] ?? '');
  const key = await keyFor(program, choices, context);
  const sinceMs = Date.now();
  try {
    const end = await around?.(control, key.id);
    try {
      const origin = await clientOrigin(control);
      const code = await startProgram(line, {
        origin,
        key,
        model: choices.model,
        control,
        dataDir,
        env,
        note: output.note,
      });
      if (!(await hasAskedModel(control, key.id, sinceMs))) output.note(describeBypass(program));
      return code;
    } finally {
      await end?.();
    }
  } finally {
    await key.release();
  }
}

/** Whether the key has asked a model, with success or not. True if that is unknown. */
async function hasAskedModel(control: Control, keyId: string, sinceMs: number): Promise<boolean> {
  try {
    const filter = { keyId, sinceMs };
    const { requests } = await control.query({ type: 'requests', filter, limit: modelSearchLimit });
    return requests.length === modelSearchLimit || requests.some(({ capability }) => capability !== null);
  } catch {
    return true;
  }
}

/** Programs that ask no model list some, at most. */
const modelSearchLimit = 100;

function describeBypass(program: string): string {
  return (
    `No request of ${program} to a model came through Sluice. If it has asked one, its own settings lead elsewhere, ` +
    'or name a model that it does not find here; "sluice run --model" names one.'
  );
}

/**
 * A new key expires within a day, in case this process is killed and cannot revoke it. While the program runs, the
 * expiry is extended.
 */
async function keyFor(
  programName: string,
  { key: id, group }: RunChoices,
  { control, output }: { control: Control; output: Output },
): Promise<RunKey> {
  if (id !== undefined) {
    const { secret } = await control.execute({ type: 'key.reveal', id });
    return { id, secret, release: async () => {} };
  }
  const tomorrow = () => new Date(Date.now() + dayMs).toISOString();
  const created = await control.execute({
    type: 'key.create',
    name: `${programName} (run)`,
    ...(group && { group }),
    expiresAt: tomorrow(),
    keepSecret: false,
  });
  const keyId = created.key.id;
  const report = (error: unknown) =>
    output.note(`Key "${keyId}" stays until it expires: ${error instanceof Error ? error.message : String(error)}`);
  const renewal = every(() => {
    control.execute({ type: 'key.update', id: keyId, changes: { expiresAt: tomorrow() } }).catch(report);
  }, dayMs / 2);
  const release = async () => {
    clearInterval(renewal);
    await control.execute({ type: 'key.revoke', id: keyId }).catch(report);
  };
  return { id: keyId, secret: created.secret, release };
}
