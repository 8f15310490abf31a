/**
 * Runs keytar in a child process. keytar blocks threads of libuv's pool, and a locked or hanging Secret Service can
 * block one forever, so that the process could not even exit. A child can be killed. It starts with the first call and
 * ends when idle, to save memory. The desktop starts it differently, because its binary cannot run as Node.
 */
import { fork } from 'node:child_process';
import { after } from '../ground/timers.ts';

/** The functions of keytar in use. */
type Verb = 'getPassword' | 'setPassword' | 'deletePassword' | 'findCredentials';

/**
 * Passed to the child as text, so that it also exists in a bundled program. The child exits when its parent is gone.
 */
const childSource = `
let keytar, problem
try { keytar = require(process.argv[1]) } catch (error) { problem = 'keytar does not load: ' + error.message.split('\\n')[0] }
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.on('message', async ({ id, verb, parameters }) => {
  try {
    if (problem) throw new Error(problem)
    process.send({ id, result: await keytar[verb](...parameters) })
  } catch (error) {
    process.send({ id, problem: error.message })
  }
})`;

const idleMs = 5_000;

export interface KeytarCall {
  id: number;
  verb: Verb;
  parameters: string[];
}
interface KeytarReply {
  id: number;
  result?: unknown;
  problem?: string;
}

/** A process that runs keytar and answers each `KeytarCall` with a `KeytarReply`. It does not keep the parent alive. */
interface KeytarChild {
  send(call: KeytarCall): void;
  kill(): void;
}
interface KeytarListener {
  onReply(reply: KeytarReply): void;
  onEnd(reason: string): void;
}
/** `keytarPath`: the absolute path of keytar's main file. */
export type StartKeytar = (keytarPath: string, listener: KeytarListener) => KeytarChild;

interface Call {
  resolve(result: unknown): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

/** Calls keytar. Rejects with a readable reason, after `limitMs` at the latest. */
export type KeytarProcess = (verb: Verb, parameters: string[], limitMs: number) => Promise<unknown>;

/** @param keytarPath the absolute path of keytar's main file */
export function createKeytarProcess(keytarPath: string, start: StartKeytar = startNodeChild): KeytarProcess {
  const calls = new Map<number, Call>();
  let child: KeytarChild | undefined;
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
    const started: KeytarChild = start(keytarPath, {
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
function startNodeChild(keytarPath: string, { onReply, onEnd }: KeytarListener): KeytarChild {
  const child = fork(keytarPath, [], {
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
