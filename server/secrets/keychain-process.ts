/**
 * Runs the keychain's library in a child process. Both libraries block threads of libuv's pool or the event loop itself,
 * and a locked or hanging Secret Service can block one forever, so that the process could not even exit. A child can be
 * killed. It starts with the first call and ends when idle, to save memory. The desktop starts it differently, because its
 * binary cannot run as Node.
 */
import { fork } from 'node:child_process';
import { after } from '../ground/timers.ts';
import { adaptKeychainLibrary, type KeychainVerb } from './keychain-libraries.ts';

/**
 * Passed to the child as text, so that it also exists in a bundled program. The child exits when its parent is gone.
 */
const childSource = `
const adapt = ${adaptKeychainLibrary}
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.on('message', async ({ id, verb, parameters }) => {
  try {
    process.send({ id, result: await adapt(require(process.argv[1]))[verb](...parameters) })
  } catch (error) {
    process.send({ id, problem: error.message.split('\\n')[0] })
  }
})`;

const idleMs = 5_000;

export interface KeychainCall {
  id: number;
  verb: KeychainVerb;
  parameters: string[];
}
interface KeychainReply {
  id: number;
  result?: unknown;
  problem?: string;
}

/** A process that runs one library of the keychain and answers each `KeychainCall` with a `KeychainReply`. It does not keep the parent alive. */
interface KeychainChild {
  send(call: KeychainCall): void;
  kill(): void;
}
interface KeychainListener {
  onReply(reply: KeychainReply): void;
  onEnd(reason: string): void;
}
/** `libraryPath`: the absolute path of the library's main file. */
export type StartKeychainHelper = (libraryPath: string, listener: KeychainListener) => KeychainChild;

interface Call {
  resolve(result: unknown): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

/** Calls keytar. Rejects with a readable reason, after `limitMs` at the latest. */
export type KeychainProcess = (verb: KeychainVerb, parameters: string[], limitMs: number) => Promise<unknown>;

/** @param libraryPath the absolute path of the library's main file */
export function createKeychainProcess(
  libraryPath: string,
  start: StartKeychainHelper = startNodeChild,
): KeychainProcess {
  const calls = new Map<number, Call>();
  let child: KeychainChild | undefined;
  let idle: NodeJS.Timeout | undefined;
  let lastId = 0;

  const settle = (id: number, settleCall: (call: Call) => void) => {
    const call = calls.get(id);
    if (!call) return;
    calls.delete(id);
    clearTimeout(call.timer);
    settleCall(call);
    if (calls.size === 0) idle = after(stop, idleMs).unref();
  };
  const stop = (reason = 'the keychain helper was stopped') => {
    child?.kill();
    child = undefined;
    for (const id of [...calls.keys()]) settle(id, (call) => call.reject(new Error(reason)));
    clearTimeout(idle);
  };
  const startChild = () => {
    const started: KeychainChild = start(libraryPath, {
      onReply: ({ id, result, problem }) =>
        settle(id, (call) => (problem === undefined ? call.resolve(result) : call.reject(new Error(problem)))),
      onEnd: (reason) => started === child && stop(reason),
    });
    return started;
  };

  return (verb, parameters, limitMs) => {
    clearTimeout(idle);
    child ??= startChild();
    const id = ++lastId;
    const reply = new Promise((resolve, reject) => {
      const timer = after(() => stop(`it did not answer within ${limitMs / 1000} s`), limitMs);
      calls.set(id, { resolve, reject, timer });
    });
    child.send({ id, verb, parameters });
    return reply;
  };
}

/** Only a pending call (by its timer) keeps the process alive. */
function startNodeChild(libraryPath: string, { onReply, onEnd }: KeychainListener): KeychainChild {
  const child = fork(libraryPath, [], {
    execArgv: ['-e', childSource],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  child.on('message', onReply);
  child.on('error', () => onEnd('the keychain helper could not be started'));
  child.on('exit', () => onEnd('the keychain helper ended unexpectedly'));
  child.unref();
  child.channel?.unref();
  return {
    send: (call) => void child.send(call, (error) => error && onReply({ id: call.id, problem: error.message })),
    kill: () => void child.kill('SIGKILL'),
  };
}
