/**
 * Notices a key that sends the same prompt again and again, faster and faster, as a program does that has lost its way, and
 * slows that one prompt down until its rate rises no more or a person allows it.
 *
 * Nobody else is to notice the guard, and to notice late is better than to refuse an honest program: a key costs a counter
 * until it sends fast; only what is sent in the same words counts, and only while an earlier one of it has no answer yet, so
 * that a program which waits for each answer is never slowed; it has to have nearly doubled each minute for five; a steady
 * rate is no runaway, however high, nor is one so high that no program waits for the answers (a load test). Must not know
 * what a prompt is: it gets a fingerprint.
 */
import { GatewayError } from '../contract/errors.ts';
import type { RunawayView } from '../contract/limits.ts';
import type { Clocks } from './account.ts';
import { PromptPace } from './prompt-pace.ts';
import { formatSpan } from './rate-headers.ts';

/** A key below the one is too slow, above the other a load test: nothing is fingerprinted then. */
const fewestPerMinute = 30;
const mostPerMinute = 3_000;
/** Of different prompts of one key; beyond it the one that was sent longest ago is forgotten. */
const mostPrompts = 64;
const firstWaitMs = 1_000;
const longestWaitMs = 60_000;
/** One that was not sent for so long is forgotten. */
const calmMs = 2 * 60_000;
const allowedMs = 60 * 60_000;

interface SentPrompt {
  key: { id: string; name: string };
  model: string | null;
  fingerprint(): string;
}

export interface RunawayGuard {
  /**
   * Throws a GatewayError if the prompt is being slowed and its moment has not come. Returns what is to be called once it
   * has been answered, null where nobody needs to know.
   */
  check(sent: SentPrompt): (() => void) | null;
  /** Lets a key send what it likes for an hour. */
  allow(keyId: string): void;
  /** What is slowed now. */
  runaways(): RunawayView[];
}

interface RunawayPorts {
  clocks: Clocks;
  isOn(): boolean;
  /** It begins to be slowed. */
  slowed(runaway: RunawayView): void;
}

interface Prompt {
  pace: PromptPace;
  lastAtMs: number;
  unanswered: number;
  slowed: Slowed | null;
}

interface Slowed {
  view: RunawayView;
  waitMs: number;
  nextAtMs: number;
}

class KeyPace {
  readonly prompts = new Map<string, Prompt>();
  allowedUntilMs = 0;
  #half = 0;
  #count = 0;
  #before = 0;

  /** Counts a request; whether there were so many in the last half to whole minute that its prompts are looked at. */
  isWatched(nowMs: number): boolean {
    const half = Math.floor(nowMs / 30_000);
    if (half !== this.#half) {
      this.#before = half === this.#half + 1 ? this.#count : 0;
      this.#half = half;
      this.#count = 0;
    }
    this.#count += 1;
    const pace = this.#count + this.#before;
    return pace >= fewestPerMinute && pace <= mostPerMinute;
  }

  /** The one sent longest ago stands first. */
  forgetCalm(nowMs: number): void {
    for (const [name, { lastAtMs }] of this.prompts) {
      if (nowMs - lastAtMs < calmMs) break;
      this.prompts.delete(name);
    }
  }

  prompt(fingerprint: string, nowMs: number): Prompt {
    const prompt = this.prompts.get(fingerprint) ?? newPrompt();
    this.prompts.delete(fingerprint);
    const [oldest] = this.prompts.keys();
    if (oldest !== undefined && this.prompts.size >= mostPrompts) this.prompts.delete(oldest);
    prompt.lastAtMs = nowMs;
    this.prompts.set(fingerprint, prompt);
    return prompt;
  }

  slowed(nowMs: number): Slowed[] {
    return [...this.prompts.values()].flatMap(({ slowed, pace }) => (slowed && pace.isRising(nowMs) ? [slowed] : []));
  }
}

function newPrompt(): Prompt {
  return { pace: new PromptPace(), lastAtMs: 0, unanswered: 0, slowed: null };
}

export function createRunawayGuard(ports: RunawayPorts): RunawayGuard {
  const { clocks } = ports;
  const keys = new Map<string, KeyPace>();
  const paceOf = (keyId: string) => {
    let pace = keys.get(keyId);
    if (!pace) {
      pace = new KeyPace();
      keys.set(keyId, pace);
    }
    return pace;
  };
  const slow = ({ key, model }: SentPrompt, pace: PromptPace, nowMs: number): Slowed => {
    const requestsPerMinute = pace.lastMinute(nowMs);
    const view = { keyId: key.id, model, since: clocks.wallMs(), requestsPerMinute, refused: 0 };
    ports.slowed({ ...view });
    return { view, waitMs: firstWaitMs, nextAtMs: nowMs + firstWaitMs };
  };
  return {
    check(sent) {
      const nowMs = clocks.steadyMs();
      const key = paceOf(sent.key.id);
      const isWatched = key.isWatched(nowMs);
      key.forgetCalm(nowMs);
      if (!isWatched && key.slowed(nowMs).length === 0) return null;
      if (!ports.isOn() || nowMs < key.allowedUntilMs) {
        key.prompts.clear();
        return null;
      }
      const prompt = key.prompt(sent.fingerprint(), nowMs);
      // What is refused has no answer to wait for: all of it shows whether the rate still rises.
      if (prompt.unanswered > 0 || prompt.slowed) prompt.pace.add(nowMs);
      if (prompt.slowed && !prompt.pace.isRising(nowMs)) prompt.slowed = null;
      else if (!prompt.slowed && prompt.pace.isRunaway(nowMs)) prompt.slowed = slow(sent, prompt.pace, nowMs);
      if (prompt.slowed) holdBack(sent, prompt.slowed, nowMs);
      prompt.unanswered += 1;
      return () => {
        prompt.unanswered -= 1;
      };
    },
    allow(keyId) {
      const pace = paceOf(keyId);
      pace.allowedUntilMs = clocks.steadyMs() + allowedMs;
      pace.prompts.clear();
    },
    runaways() {
      const nowMs = clocks.steadyMs();
      return [...keys.values()].flatMap((key) => key.slowed(nowMs).map(({ view }) => ({ ...view })));
    },
  };
}

/** Lets one through each time its wait is over; the next wait is twice as long. */
function holdBack({ key }: SentPrompt, slowed: Slowed, nowMs: number): void {
  const leftMs = slowed.nextAtMs - nowMs;
  if (leftMs <= 0) {
    slowed.waitMs = Math.min(slowed.waitMs * 2, longestWaitMs);
    slowed.nextAtMs = nowMs + slowed.waitMs;
    return;
  }
  slowed.view.refused += 1;
  throw new GatewayError(
    'runaway_slowed',
    `Key "${key.name}" sends the same prompt again and again, faster and faster (${slowed.view.requestsPerMinute} times in a minute), so ` +
      `it is slowed. Please try again in ${formatSpan(leftMs)}. If it is meant to do that, allow it in Sluice on the overview or ` +
      `with "sluice key allow ${key.id}"; settings.runawayGuard switches the guard off.`,
    {
      retryAfterSeconds: Math.ceil(leftMs / 1_000),
      headers: { 'retry-after-ms': String(Math.ceil(leftMs)) },
    },
  );
}
