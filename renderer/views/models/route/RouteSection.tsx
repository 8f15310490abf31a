import { useDebouncedValue } from '@mantine/hooks';
import { IconMinus } from '@tabler/icons-react';
import type { Ref } from 'react';
import { Link } from 'wouter';
import type { ModelView, RouteCandidate, RouteView } from '../../../../server/contract/access-views.ts';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { CooldownNote } from '../../../components/feedback/CooldownNote.tsx';
import { Section } from '../../../components/layout/Section.tsx';
import type { Chosen } from '../../../components/selects/chosen.ts';
import { ModelField } from '../../../components/selects/ModelField.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { useMostUsed } from '../../../state/choices/use-model-choice.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { modelRouteVersion, useQuery } from '../../../state/control/use-query.ts';
import { useCredentialName, useProviderName } from '../../../state/providers/providers.ts';
import classes from '../Models.module.css';
import { describeReason, describeRefusal } from './describe-reason.ts';
import { scopeQuery } from './scope-query.ts';
import { Wires } from './Wires.tsx';

interface RouteSectionProps {
  scope: Chosen | null;
  model: string;
  models: readonly ModelView[];
  onModel(model: string): void;
  fieldRef: Ref<HTMLInputElement>;
}

/** Long enough that not every key press sends a query. */
const typingPauseMs = 150;

/** The route of a request for a model: the providers tried, in order, and why the others are left out. */
export function RouteSection({ scope, model, models, onModel, fieldRef }: RouteSectionProps) {
  const { models: names } = useMessages();
  const mostUsed = useMostUsed() ?? [];
  const [settledModel] = useDebouncedValue(model.trim(), typingPauseMs);
  const version = useControlState(modelRouteVersion);
  const isAsked = scope !== null && settledModel !== '';
  const { answer, problem } = useQuery<'route'>(
    isAsked ? { type: 'route', ...scopeQuery(scope), model: settledModel } : null,
    version,
  );
  return (
    <Section title={names.route}>
      <div className={classes.body}>
        <ModelField
          inputRef={fieldRef}
          label={names.model}
          description={names.modelHint}
          choice={{ models, mostUsed, use: 'chat', model, choose: onModel }}
        />
        {isAsked && problem && <CommandProblem problem={problem} />}
        {isAsked && answer && !problem && <Explanation route={answer} />}
      </div>
    </Section>
  );
}

function Explanation({ route }: { route: RouteView }) {
  const { messages, formats } = useLocalization();
  const names = messages.models;
  // A paused provider is among the model's targets, but is not called.
  const paused = route.candidates.filter(({ isTaken, health }) => isTaken && health?.state === 'refused');
  const usable = route.candidates.filter((candidate) => candidate.isTaken && !paused.includes(candidate));
  const others = route.candidates.filter((candidate) => !candidate.isTaken);
  return (
    <div role="status">
      {route.refusal && (
        <div className={classes.refusal}>
          <strong>{names.refused}</strong>
          {formats.gap}
          {describeRefusal(route.refusal, messages)} <span className={classes.mono}>({route.refusal.code})</span>
        </div>
      )}
      {usable.length > 0 && (
        <Candidates title={route.refusal ? names.wouldBeAsked : names.asked} list={usable} strategy={route.strategy} />
      )}
      {usable.length > 1 && <p className={classes.reason}>{names.strategies[route.strategy]}</p>}
      {paused.length > 0 && <Candidates title={names.paused} list={paused} strategy={route.strategy} />}
      {others.length > 0 && <SkippedList list={others} />}
    </div>
  );
}

interface CandidatesProps {
  title: string;
  list: readonly RouteCandidate[];
  strategy: RouteView['strategy'];
}

function Candidates({ title, list, strategy }: CandidatesProps) {
  return (
    <>
      <h3 className={classes.subtitle}>{title}</h3>
      <ol className={classes.candidates}>
        {list.map((candidate) => (
          <Candidate
            key={`${candidate.provider}/${candidate.model}`}
            candidate={candidate}
            strategy={strategy}
            isShared={list.some((other) => other !== candidate && isEqualRank(other, candidate))}
          />
        ))}
      </ol>
    </>
  );
}

/** Within a rank, the order is drawn by weight. */
function isEqualRank(one: RouteCandidate, other: RouteCandidate): boolean {
  return one.priority !== null && one.priority === other.priority;
}

interface CandidateProps {
  candidate: RouteCandidate;
  isShared: boolean;
  strategy: RouteView['strategy'];
}

function Candidate({ candidate, isShared, strategy }: CandidateProps) {
  const { messages, formats } = useLocalization();
  const { model, weight, why, health } = candidate;
  const providers = useControlState((state) => state.views?.providers);
  const provider = providers?.find(({ id }) => id === candidate.provider);
  const providerName = useProviderName();
  const credentialName = useCredentialName();
  // What applies to the whole target is already shown.
  const credentials = candidate.credentials.filter(({ failure }) => failure !== health?.failure);
  return (
    <li className={classes.candidate}>
      <span className={classes.place} />
      <div className={classes.candidateText}>
        <span className={classes.strong}>{providerName(candidate.provider)}</span>
        {model !== null && <span className={classes.mono}> {model}</span>}
        {isShared && weight !== null && <span> · {messages.models.weightIs(formats.number(weight))}</span>}
        <span className={classes.reason}>{describeReason(why, provider, messages)}</span>
        {health && <CooldownNote health={health} className={classes.leftAlone} />}
        <Measure candidate={candidate} strategy={strategy} />
        <Wires ways={candidate.wires} />
        {credentials.map((credential) => (
          <CooldownNote
            key={credential.id}
            health={credential}
            name={credentialName(candidate.provider, credential.id)}
            className={classes.leftAlone}
          />
        ))}
      </div>
    </li>
  );
}

/** The value that the strategy compares. */
function Measure({ candidate, strategy }: Pick<CandidateProps, 'candidate' | 'strategy'>) {
  const { messages, formats } = useLocalization();
  const { firstByteMs, priceUsd } = candidate;
  const { models: names, health } = messages;
  if (strategy === 'lowest-price') {
    if (priceUsd === null) {
      const href = `/settings?section=prices&model=${encodeURIComponent(candidate.model ?? '')}`;
      return (
        <span className={classes.reason}>
          {names.noPrice} · <Link href={href}>{names.setPrice}</Link>
        </span>
      );
    }
    return <span className={classes.reason}>{names.price(formats.dollars(priceUsd))}</span>;
  }
  if (firstByteMs !== null)
    return <span className={classes.reason}>{health.firstByte(formats.duration(firstByteMs))}</span>;
  return strategy === 'lowest-latency' ? <span className={classes.reason}>{names.notMeasured}</span> : null;
}

/** Providers that are not tried for a model, in one row per reason. */
function SkippedList({ list }: { list: readonly RouteCandidate[] }) {
  const messages = useMessages();
  const providers = useControlState((state) => state.views?.providers);
  const providerName = useProviderName();
  const byReason = Map.groupBy(list, ({ provider, why }) =>
    describeReason(
      why,
      providers?.find(({ id }) => id === provider),
      messages,
    ),
  );
  return (
    <>
      <h3 className={classes.subtitle}>{messages.models.leftOut}</h3>
      <ul className={classes.candidates}>
        {[...byReason].map(([reason, skipped]) => (
          <li key={reason} className={classes.candidate}>
            <IconMinus className={classes.mark} size={16} aria-hidden />
            <div className={classes.candidateText}>
              {skipped.map(({ provider }) => providerName(provider)).join(' · ')}
              <span className={classes.reason}>{reason}</span>
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}
