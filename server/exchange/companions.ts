/** The companions of a request. To remove one of these features, remove its room and its line here. */

import { answerFacts, noAnswerFacts, requestFacts } from '../apis/core/usage/call-facts.ts';
import type { AnswerCache } from '../cache/answer-cache.ts';
import type { AttemptRecord } from '../contract/ledger.ts';
import type { FaultSwitch } from '../faults/fault-switch.ts';
import type { Observability } from '../observability/observability.ts';
import type { CallFacts } from '../observability/request-tracing.ts';
import type { JobStore, ResponseStore } from '../store/ports/kept-stores.ts';
import { CacheCompanion } from './cache/cache-companion.ts';
import { CaptureCompanion, type CapturePorts } from './capture/capture-companion.ts';
import { CassetteCompanion, type CassetteSource } from './cassette/cassette-companion.ts';
import type { Companion } from './course/companion.ts';
import { FaultCompanion } from './faults/fault-companion.ts';
import type { JobBilling } from './jobs/job-billing.ts';
import { JobCompanion } from './jobs/job-companion.ts';
import { KeptResponses } from './kept/kept-responses.ts';
import type { RequestTrace } from './record/exchange-trace.ts';
import { notedText } from './redact/redact-credential.ts';
import type { RequestBody } from './request/request-body.ts';
import { SessionCompanion, type SessionTracker } from './sessions/session-companion.ts';
import type { TranslationThreads } from './translation/translation-threads.ts';

interface CompanionPorts extends CapturePorts {
  faults: FaultSwitch;
  cassettes: CassetteSource;
  keptResponses: ResponseStore;
  sessions: SessionTracker;
  cache: AnswerCache;
  jobs: JobStore;
  bills: JobBilling;
  translationThreads: TranslationThreads;
  /** Begins spans. */
  observability: Pick<Observability, 'tracer'>;
}

/** In the order in which they are called: what simulates an answer comes before what looks for a real one. */
export function createCompanions(ports: CompanionPorts): readonly Companion[] {
  return [
    tracing(ports.observability),
    new CaptureCompanion(ports),
    new FaultCompanion(ports.faults),
    new CassetteCompanion(ports.cassettes),
    new KeptResponses(ports.keptResponses, ports.translationThreads),
    new SessionCompanion(ports.sessions),
    new CacheCompanion(ports.cache),
    new JobCompanion(ports),
  ];
}

/** Spans of a request, which its trace adds its attempts to. */
function tracing(observability: Pick<Observability, 'tracer'>): Companion {
  return {
    admitted({ request, trace }) {
      const { tracer } = observability;
      if (tracer === null) return null;
      const spans = tracer.begin(request.headers, trace.startedAt);
      trace.tracing = spans;
      let body: RequestBody | null = null;
      return {
        received(call) {
          body = call.body;
          return false;
        },
        ended: (record) => spans.finished(record, (attempt) => factsOf(trace, attempt, body)),
      };
    },
  };
}

/** Null if the API tells none. */
function factsOf(trace: RequestTrace, record: AttemptRecord, body: RequestBody | null): CallFacts | null {
  const asked = trace.route?.wire.usage.facts;
  const attempt = trace.attempts.find((each) => each.record === record);
  if (!asked || !attempt) return null;
  const { excerpt, responseType, usage } = attempt;
  const told = usage === null ? asked : usage.facts;
  const { id, model, finishReasons } = told ? answerFacts(excerpt.kept(responseType), told) : noAnswerFacts;
  const noted = (name: string | null) => name && notedText(name, trace.secrets, maxNameLength);
  const isCut = trace.stream && record.failure !== null && record.firstContentMs !== null;
  return {
    ...requestFacts(body ?? {}, asked),
    id: noted(id),
    model: noted(model),
    finishReasons: isCut && finishReasons.length === 0 ? ['error'] : finishReasons,
  };
}

const maxNameLength = 200;
