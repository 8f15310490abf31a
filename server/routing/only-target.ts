import { configuredCredentials, type Picker } from './picker.ts';
import type { Target } from './snapshot.ts';

/**
 * For requests that only one provider can answer and that say nothing about its models: ignores health and reports none, since a
 * key that may not read files may still be good for chat. But a credential that was refused is asked as rarely as by any other
 * request, and an answer ends the refusal.
 */
export function onlyTarget(picker: Picker): Picker {
  const isRefused = (target: Target, credentialId: string | null) => picker.refusedForMs(target, credentialId) !== null;
  return {
    order: (targets) => targets,
    credentials: (target) => configuredCredentials(target).filter((each) => !isRefused(target, each?.id ?? null)),
    refusedForMs: (target, credentialId) => picker.refusedForMs(target, credentialId),
    heldBackForMs: () => 0,
    worthWaitingMs: () => 0,
    isAvailable: () => true,
    trialPatienceMs: () => 0,
    began(target, credentialId) {
      if (isRefused(target, credentialId)) picker.began(target, credentialId);
    },
    answers() {},
    report(attempt) {
      if (isRefused(attempt.target, attempt.credentialId)) picker.report(attempt);
    },
  };
}
