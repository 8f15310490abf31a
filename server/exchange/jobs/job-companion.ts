/** What goes on at a provider after the answer: who owns it, and what it costs. */
import type { KeptAnswer } from '../../apis/core/wire.ts';
import type { NextAttempt } from '../../routing/attempt-plan.ts';
import type { Job, JobStore } from '../../store/ports/kept-stores.ts';
import type { AdmittedRequest, Companion, Ending, PlannedCall, Visit } from '../course/companion.ts';
import { attemptThatMade, runsInBackground } from '../record/accounting.ts';
import type { AttemptTrace, MadeObjects, RequestTrace } from '../record/exchange-trace.ts';
import type { UpstreamResponseObserver } from '../record/response-taps.ts';
import type { OutgoingCall } from '../request/outgoing-call.ts';
import type { Booking, JobBilling } from './job-billing.ts';
import {
  type CreationContext,
  createOwnershipObserver,
  noteSize,
  rememberCompleted,
  rememberCut,
} from './object-ownership.ts';

interface JobPorts {
  jobs: JobStore;
  bills: JobBilling;
}

export class JobCompanion implements Companion {
  readonly #ports: JobPorts;

  constructor(ports: JobPorts) {
    this.#ports = ports;
  }

  admitted({ match, trace, request }: AdmittedRequest): Visit | null {
    return match === null ? null : new JobVisit(this.#ports, trace, request.method ?? 'GET');
  }
}

class JobVisit implements Visit {
  readonly #ports: JobPorts;
  readonly #trace: RequestTrace;
  readonly #method: string;
  #planned: PlannedCall | null = null;
  #booking: Booking | null = null;
  #isOfThis = false;

  constructor(ports: JobPorts, trace: RequestTrace, method: string) {
    this.#ports = ports;
    this.#trace = trace;
    this.#method = method;
  }

  planned(planned: PlannedCall): false {
    this.#planned = planned;
    return false;
  }

  sent(attempt: AttemptTrace, recipient: NextAttempt): void {
    if (this.#planned === null) return;
    const { call } = this.#planned;
    attempt.made = new ObjectsOfAttempt(this.#method, call, { jobs: this.#ports.jobs, trace: this.#trace, recipient });
  }

  /** The usage of a background job that the request created or found finished. */
  answered(ending: Ending): void {
    const { bills, jobs } = this.#ports;
    const { createdJob, session, job, deletedJob } = this.#trace;
    const maker = attemptThatMade(this.#trace);
    const { usage } = ending.accounting;
    if (maker && createdJob && usage === null && runsInBackground(this.#trace, maker, this.#planned?.call.body)) {
      bills.owe(createdJob, this.#planned?.reserved ?? null, session);
    } else if (createdJob) noteSize(jobs, createdJob, ending.accounting);
    this.#booking = deletedJob ? bills.settleDeleted(deletedJob) : this.#settled(job);
    this.#isOfThis = this.#booking !== null && this.#isMaker(this.#booking);
    if (this.#booking && this.#isOfThis) {
      ending.accounting = this.#booking.accounting;
      ending.books = this.#booking.books;
      // The last attempt holds the usage, since a job is only asked about at its owner. The attempt's span reads it too.
      Object.assign(this.#trace.attempts.at(-1)?.record ?? {}, this.#booking.accounting);
    }
  }

  #settled(job: Job | null): Booking | null {
    const { answering, response } = this.#trace;
    if (!job?.owed || !answering || response.outcome !== 'ok') return null;
    return this.#ports.bills.settle(job, { tail: answering.excerpt, contentType: answering.responseType });
  }

  /** Whether the request is of the key and the session that made the job. */
  #isMaker({ job, session }: Booking): boolean {
    const { key, session: mark } = this.#trace;
    return key?.id === job.keyId && (session === null || mark?.session?.id === session);
  }

  ended(): void {
    const { bills } = this.#ports;
    const { deletedJob } = this.#trace;
    if (this.#booking && !this.#isOfThis) bills.book(this.#booking);
    else if (this.#booking) bills.release(this.#booking.job);
    if (deletedJob) bills.release(deletedJob);
  }
}

class ObjectsOfAttempt implements MadeObjects {
  readonly #method: string;
  readonly #call: OutgoingCall;
  readonly #context: CreationContext;

  constructor(method: string, call: OutgoingCall, context: CreationContext) {
    this.#method = method;
    this.#call = call;
    this.#context = context;
  }

  observer(): UpstreamResponseObserver | null {
    return createOwnershipObserver(this.#method, this.#call, this.#context);
  }

  cut(answer: KeptAnswer): void {
    rememberCut(this.#call, this.#context, answer);
  }

  completed(id: string, upstreamId: string): void {
    rememberCompleted(this.#call, this.#context, id, upstreamId);
  }
}
