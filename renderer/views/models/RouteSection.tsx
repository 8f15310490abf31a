import { Alert, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconCircleCheck, IconMinus } from '@tabler/icons-react';
import type { Ref } from 'react';
import type { RouteCandidate, RouteView } from '../../../server/contract/views.ts';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { Section } from '../../components/Section.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import { useQuery } from '../../state/use-query.ts';
import { type Asker, askedAs } from './asker.ts';
import classes from './Models.module.css';

export interface RouteSectionProps {
  asker: Asker | null;
  model: string;
  onModel(model: string): void;
  fieldRef: Ref<HTMLInputElement>;
}

/** Long enough that not every letter is a question. */
const typingPauseMs = 150;

/** What would happen to a request for a model: who would be asked, in which order, and why not the others. */
export function RouteSection({ asker, model, onModel, fieldRef }: RouteSectionProps) {
  const { models: names } = useMessages();
  const [settled] = useDebouncedValue(model.trim(), typingPauseMs);
  const revision = useControlState((state) => state.views?.status.revision ?? null);
  const isAsked = asker !== null && settled !== '';
  const { answer, problem } = useQuery<'route'>(
    isAsked ? { type: 'route', ...askedAs(asker), model: settled } : null,
    revision,
  );
  return (
    <Section title={names.route}>
      <div className={classes.body}>
        <TextInput
          ref={fieldRef}
          label={names.model}
          description={names.modelHint}
          value={model}
          onChange={(event) => onModel(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
          maxLength={512}
        />
        {isAsked && problem && <CommandProblem problem={problem} />}
        {isAsked && answer && !problem && <Explanation route={answer} />}
      </div>
    </Section>
  );
}

function Explanation({ route }: { route: RouteView }) {
  const { models: names } = useMessages();
  const taken = route.candidates.filter((candidate) => candidate.isTaken);
  const others = route.candidates.filter((candidate) => !candidate.isTaken);
  return (
    <div role="status">
      {route.refusal && (
        <Alert color="red" variant="light" title={names.refused} className={classes.refusal}>
          {route.refusal.message} <span className={classes.mono}>({route.refusal.code})</span>
        </Alert>
      )}
      {taken.length > 0 && <Candidates title={route.refusal ? names.wouldBeAsked : names.asked} list={taken} />}
      {others.length > 0 && <Candidates title={names.leftOut} list={others} />}
    </div>
  );
}

function Candidates({ title, list }: { title: string; list: readonly RouteCandidate[] }) {
  return (
    <>
      <h3 className={classes.subtitle}>{title}</h3>
      <ol className={classes.candidates}>
        {list.map((candidate) => (
          <Candidate
            key={`${candidate.provider}/${candidate.model}`}
            candidate={candidate}
            isShared={list.some((other) => other !== candidate && isEqualRank(other, candidate))}
          />
        ))}
      </ol>
    </>
  );
}

/** Among equals the order is drawn by weight. */
function isEqualRank(one: RouteCandidate, other: RouteCandidate): boolean {
  return one.priority !== null && one.priority === other.priority;
}

function Candidate({ candidate, isShared }: { candidate: RouteCandidate; isShared: boolean }) {
  const { messages, formats } = useLocalization();
  const { name, model, weight, reason, isTaken } = candidate;
  const Mark = isTaken ? IconCircleCheck : IconMinus;
  return (
    <li className={classes.candidate}>
      <Mark size={16} className={isTaken ? classes.good : undefined} aria-hidden />
      <div className={classes.candidateText}>
        <span className={isTaken ? classes.strong : undefined}>{name}</span>
        {model !== null && <span className={classes.mono}> {model}</span>}
        {isShared && weight !== null && <span> · {messages.models.weightIs(formats.number(weight))}</span>}
        <span className={classes.reason}>{reason}</span>
      </div>
    </li>
  );
}
