import { formatMessage } from '../contract/coded.ts';
import {
  findingTexts,
  type ProbeFinding,
  type ProbeRemedy,
  type ProbeReport,
  type ProbeStep,
  type ProbeStepName,
  probeSteps,
  remedyTexts,
} from '../contract/probe.ts';

/** Collects the steps of a probe. Steps after the first failure count as not reached. */
export class ProbeSteps {
  readonly #steps = new Map<ProbeStepName, ProbeStep>();
  #failedAt: ProbeStepName | null = null;

  get failedAt(): ProbeStepName | null {
    return this.#failedAt;
  }

  skip(name: ProbeStepName, finding: ProbeFinding): void {
    this.#steps.set(name, stepOf(name, 'skipped', finding));
  }

  pass(name: ProbeStepName, finding: ProbeFinding = { code: `${name}-passed` }): void {
    if (!this.#steps.has(name)) this.#steps.set(name, stepOf(name, 'ok', finding));
  }

  /** Passes the step even if it could not be tested before. */
  confirm(name: ProbeStepName): void {
    this.#steps.set(name, stepOf(name, 'ok', { code: `${name}-passed` }));
  }

  /** Passes all steps up to this one. */
  passUpTo(last: ProbeStepName): void {
    for (const name of probeSteps.slice(0, probeSteps.indexOf(last) + 1)) this.pass(name);
  }

  /** Fails the step, and passes all steps before it. */
  fail(name: ProbeStepName, finding: ProbeFinding, remedy: ProbeRemedy): void {
    for (const before of probeSteps.slice(0, probeSteps.indexOf(name))) this.pass(before);
    this.#steps.set(name, { ...stepOf(name, 'failed', finding), remedy, advice: formatMessage(remedyTexts, remedy) });
    this.#failedAt = name;
  }

  report(): Pick<ProbeReport, 'ok' | 'failedAt' | 'steps'> {
    const notReached = (name: ProbeStepName) => stepOf(name, 'skipped', { code: 'not-reached' });
    const reachedUpTo = this.#failedAt === null ? probeSteps.length : probeSteps.indexOf(this.#failedAt) + 1;
    const steps = probeSteps.map((name, index) =>
      index < reachedUpTo ? (this.#steps.get(name) ?? notReached(name)) : notReached(name),
    );
    return { ok: this.#failedAt === null, failedAt: this.#failedAt, steps };
  }
}

function stepOf(name: ProbeStepName, status: ProbeStep['status'], finding: ProbeFinding): ProbeStep {
  return { name, status, finding, remedy: null, message: formatMessage(findingTexts, finding), advice: null };
}
