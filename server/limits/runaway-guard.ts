/**
 * Notices a key that sends the same prompt again and again, faster and faster, as a program does that has lost its way, and
 * slows that one prompt down until it stops or a person allows it.
 *
 * Nobody else is to notice the guard: a key costs a counter until it sends fast; only what is sent in the same words
 * counts; a steady rate is no runaway, however high, nor is one so high that no program waits for the answers (a load
 * test). Must not know what a prompt is: it gets a fingerprint.
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
/** Without the prompt for so long, it is over. */
const calmMs = 2 * 60_000;
const allowedMs = 60 * 60_000;

export interface SentPrompt {
  key: { id: string; name: string };
  model: string | null;
  fingerprint(): string;
}

export interface RunawayGuard {
  /** Throws a GatewayError if the prompt is being slowed and its moment has not come. */
  check(sent: SentPrompt): void;
  /** Lets a key send what it likes for an hour. */
  allow(keyId: string): void;
  /** What is slowed now. */
  runaways(): RunawayView[];
}

export interface RunawayPorts {
  clocks: Clocks;
  isOn(): boolean;
  /** It begins to be slowed. */
  slowed(runaway: RunawayView): void;
}

interface Prompt {
  pace: PromptPace;
  lastAtMs: number;
  slowed: { view: RunawayView; waitMs: number; nextAtMs: number } | null;
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

  /** Forgets what has calmed down and what there is too much of; the one sent longest ago stands first. */
  prompt(fingerprint: string, nowMs: number): Prompt {
    for (const [name, { lastAtMs }] of this.prompts) {
      if (nowMs - lastAtMs < calmMs && this.prompts.size < mostPrompts) break;
      this.prompts.delete(name);
    }
    const prompt = this.prompts.get(fingerprint) ?? { pace: new PromptPace(), lastAtMs: nowMs, slowed: null };
    this.prompts.delete(fingerprint);
    this.prompts.set(fingerprint, prompt);
    return prompt;
  }

  isSlowed(nowMs: number): boolean {
    for (const { slowed, lastAtMs } of this.prompts.values()) if (slowed && nowMs - lastAtMs < calmMs) return true;
    return false;
  }
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
  return {
    check(sent) {
      const nowMs = clocks.steadyMs();
      const key = paceOf(sent.key.id);
      const isWatched = key.isWatched(nowMs);
      if (!isWatched && key.prompts.size === 0) return;
      if (!(isWatched || key.isSlowed(nowMs)) || !ports.isOn() || nowMs < key.allowedUntilMs) {
        key.prompts.clear();
        return;
      }
      const prompt = key.prompt(sent.fingerprint(), nowMs);
      prompt.pace.add(nowMs);
      prompt.lastAtMs = nowMs;
      if (prompt.slowed === null && prompt.pace.isRunaway(nowMs)) {
        const requestsPerMinute = prompt.pace.lastMinute(nowMs);
        const view = { keyId: sent.key.id, model: sent.model, since: clocks.wallMs(), requestsPerMinute, refused: 0 };
        prompt.slowed = { view, waitMs: firstWaitMs, nextAtMs: nowMs + firstWaitMs };
        ports.slowed({ ...view });
      }
      if (prompt.slowed) holdBack(sent, prompt.slowed, nowMs);
    },
    allow(keyId) {
      const pace = paceOf(keyId);
      pace.allowedUntilMs = clocks.steadyMs() + allowedMs;
      pace.prompts.clear();
    },
    runaways() {
      const calmSince = clocks.steadyMs() - calmMs;
      const prompts = [...keys.values()].flatMap((key) => [...key.prompts.values()]);
      return prompts.flatMap(({ slowed, lastAtMs }) => (slowed && lastAtMs > calmSince ? [{ ...slowed.view }] : []));
    },
  };
}

/** Lets one through each time its wait is over; the next wait is twice as long. */
function holdBack({ key }: SentPrompt, slowed: NonNullable<Prompt['slowed']>, nowMs: number): void {
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
