import { useDebouncedValue } from '@mantine/hooks';
import { IconMinus } from '@tabler/icons-react';
import type { Ref } from 'react';
import { Link } from 'wouter';
import type {
  ModelView,
  RouteCandidate,
  RouteReason,
  RouteRefusal,
  RouteView,
  WireWay,
} from '../../../../server/contract/access-views.ts';
import type { LossNote } from '../../../../server/contract/loss-codes.ts';
import { wireLabels } from '../../../../server/contract/operations.ts';
import { blockOf, type ProviderView } from '../../../../server/contract/provider-views.ts';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { CooldownNote, ProviderLinks } from '../../../components/feedback/Condition.tsx';
import { Section } from '../../../components/layout/Section.tsx';
import type { Chosen } from '../../../components/selects/FindSelect.tsx';
import { ModelField } from '../../../components/selects/ModelField.tsx';
import type { Messages } from '../../../messages/en/en.ts';
import { type Localization, useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { useMostUsed } from '../../../state/choices/use-model-choice.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { modelRouteVersion, useQuery } from '../../../state/control/use-query.ts';
import { useCredentialName, useProviderName } from '../../../state/providers/providers.ts';
import classes from '../Models.module.css';

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
  const providerName = useProviderName();
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
          {describeRefusal(route.refusal, { messages, formats }, providerName)}{' '}
          <span className={classes.mono}>({route.refusal.code})</span>
          <ProviderLinks ids={route.refusal.unlisted} />
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

/** The clients that are served without translation, and what the others lose in translation. */
function Wires({ ways }: { ways: readonly WireWay[] }) {
  const { models: names } = useMessages();
  const untranslated = ways.filter(({ client, upstream }) => client === upstream);
  const translated = ways.filter(({ client, upstream }) => client !== upstream);
  return (
    <>
      {untranslated.length > 0 && (
        <span className={classes.reason}>
          {names.asTheyAre(untranslated.map(({ client }) => wireLabels[client]).join(', '))}
        </span>
      )}
      {translated.map((way) => (
        <Translated key={way.client} way={way} />
      ))}
    </>
  );
}

function Translated({ way: { client, upstream, dropped, emulated } }: { way: WireWay }) {
  const { models: names } = useMessages();
  return (
    <details className={classes.wire}>
      <summary>{names.translated(wireLabels[client], wireLabels[upstream])}</summary>
      {dropped.length > 0 && <p>{names.wouldDrop(fieldsOf(dropped))}</p>}
      {emulated.length > 0 && <p>{names.wouldEmulate(fieldsOf(emulated))}</p>}
      <p>{names.otherLosses}</p>
    </details>
  );
}

function fieldsOf(notes: readonly LossNote[]): string {
  return notes.map(({ field }) => field).join(', ');
}

/** Why a provider is tried or not, in the language of the window. */
function describeReason(reason: RouteReason, provider: ProviderView | undefined, messages: Messages): string {
  const { reasons } = messages.models;
  switch (reason.code) {
    case 'unusable': {
      const block = provider ? blockOf(provider) : null;
      return block ? messages.health.blocked[block] : reason.reason;
    }
    case 'alias':
    case 'own-alias':
    case 'not-in-alias':
    case 'not-in-own-alias':
      return reasons[reason.code](reason.alias);
    case 'not-in-group':
    case 'not-allowed':
      return reasons[reason.code](reason.group);
    case 'not-on-key':
      return reasons[reason.code](reason.key);
    case 'other-addressed':
      return reasons[reason.code](reason.provider);
    default:
      return reasons[reason.code];
  }
}

/** Why a request would be refused immediately. */
function describeRefusal(
  { code, nearest, unlisted, message }: RouteRefusal,
  { messages: { models, requests }, formats }: Pick<Localization, 'messages' | 'formats'>,
  providerName: (id: string) => string,
): string {
  const texts = models.refusals;
  const withNearest = (text: string) => (nearest === null ? text : `${text}${formats.gap}${texts.nearest(nearest)}`);
  switch (code) {
    case 'no_healthy_provider':
      return texts[code];
    case 'key_disabled':
    case 'key_expired':
      return requests.errors[code];
    case 'model_not_found':
      return withNearest(texts[code]);
    case 'models_unknown':
      return withNearest(texts[code](formats.list(unlisted.map(providerName))));
    default:
      return message;
  }
}

/** Who would send the request, a key or any key of a group, as a query takes it. */
export function scopeQuery({ kind, id }: Chosen): { key: string } | { group: string } {
  return kind === 'key' ? { key: id } : { group: id };
}

/** The name of a model or alias; a click shows its route. */
export function ModelNameButton({ name, onExplain }: { name: string; onExplain(): void }) {
  const { models } = useMessages();
  return (
    <button
      type="button"
      className={classes.modelName}
      onClick={onExplain}
      title={models.explain}
      aria-label={models.explainNamed(name)}
    >
      {name}
    </button>
  );
}
