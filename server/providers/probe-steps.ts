import { type ProbeReport, type ProbeStep, type ProbeStepName, probeSteps } from '../contract/probe.ts';

const passed: Record<ProbeStepName, string> = {
  dns: 'the host name is known',
  proxy: 'the proxy lets it through',
  connection: 'a connection can be opened',
  tls: 'the connection is secure',
  'base-url': 'an API answers there',
  credential: 'the credential is accepted',
  quota: 'nothing says that a limit is reached',
  models: 'it lists its models',
};

/** The hops of a probe as they are found out. What fails first stands: hops after it are not reached. */
export class ProbeSteps {
  readonly #steps = new Map<ProbeStepName, ProbeStep>();
  #failedAt: ProbeStepName | null = null;

  get failedAt(): ProbeStepName | null {
    return this.#failedAt;
  }

  skip(name: ProbeStepName, message: string): void {
    this.#steps.set(name, { name, status: 'skipped', message, advice: null });
  }

  pass(name: ProbeStepName, message = passed[name]): void {
    if (!this.#steps.has(name)) this.#steps.set(name, { name, status: 'ok', message, advice: null });
  }

  /** All hops up to this one. */
  passUpTo(last: ProbeStepName): void {
    for (const name of probeSteps.slice(0, probeSteps.indexOf(last) + 1)) this.pass(name);
  }

  /** The hops before it were passed. */
  fail(name: ProbeStepName, message: string, advice: string): void {
    for (const before of probeSteps.slice(0, probeSteps.indexOf(name))) this.pass(before);
    this.#steps.set(name, { name, status: 'failed', message, advice });
    this.#failedAt = name;
  }

  report(): Pick<ProbeReport, 'ok' | 'failedAt' | 'steps'> {
    const notReached = (name: ProbeStepName): ProbeStep => ({
      name,
      status: 'skipped',
      message: 'not reached',
      advice: null,
    });
    const reachedUpTo = this.#failedAt === null ? probeSteps.length : probeSteps.indexOf(this.#failedAt) + 1;
    const steps = probeSteps.map((name, index) =>
      index < reachedUpTo ? (this.#steps.get(name) ?? notReached(name)) : notReached(name),
    );
    return { ok: this.#failedAt === null, failedAt: this.#failedAt, steps };
  }
}
