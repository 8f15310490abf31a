import { Button, NumberInput, TagsInput } from '@mantine/core';
import { useEffect, useMemo, useRef, useState } from 'react';
import { answerTextOf, saidTextOf } from '../../../../server/contract/conversation/body-content.ts';
import { type KeptRequest, modelOf, spreadOf, withModel } from '../../../../server/contract/sent-request.ts';
import { ModeSwitch } from '../../../components/conversation/ConversationView.tsx';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { KeyChooser } from '../../../components/selects/FindSelect.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { callPath, type PathCall } from '../../../state/calls/gateway-api.ts';
import type { KeyChoice } from '../../../state/choices/use-key-choice.ts';
import { useModelChoice } from '../../../state/choices/use-model-choice.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import type { LiveRequest } from '../../../state/requests/live-request.ts';
import { ComparedText, useDiff } from './ComparedTexts.tsx';
import { FigureTable } from './Comparison.tsx';
import classes from './SendAgain.module.css';
import { answerOf, type SecondAnswer, useRequestKey } from './use-second-answer.ts';

const mostModels = 4;
const mostTimes = 20;

/** Sends the same request to several models, several times if wanted, and shows their answers side by side. */
export function CompareModels({ original }: { original: KeptRequest }) {
  const { inspector: names } = useMessages();
  const keyChoice = useRequestKey(original.request.keyId);
  const choice = useModelChoice(keyChoice.key?.id ?? null, 'chat');
  const [models, setModels] = useState<string[]>([modelOf(original) ?? ''].filter(Boolean));
  const [times, setTimes] = useState(1);
  const [isChoosing, setChoosing] = useState(false);
  const comparison = useComparison(keyChoice);
  const { method, headers } = original;
  const calls = models.flatMap((model) => {
    const call = withModel(original, model);
    return call ? [{ model, method, headers, ...call }] : [];
  });
  return (
    <div className={classes.again}>
      <div className={classes.fields}>
        <KeyChooser choice={keyChoice} />
        <NumberInput
          label={names.compare.times}
          min={1}
          max={mostTimes}
          allowDecimal={false}
          clampBehavior="strict"
          value={times}
          onChange={(value) => setTimes(typeof value === 'number' && value > 0 ? value : 1)}
        />
      </div>
      <TagsInput
        label={names.compare.models}
        description={names.compare.modelsHint}
        data={choice.models.map(({ id }) => id)}
        limit={50}
        maxTags={mostModels}
        value={models}
        onChange={setModels}
        acceptValueOnBlur
        // Closed after each choice, because the open list would cover the button below.
        dropdownOpened={isChoosing}
        onDropdownOpen={() => setChoosing(true)}
        onDropdownClose={() => setChoosing(false)}
        onOptionSubmit={() => setChoosing(false)}
      />
      {keyChoice.problem && <CommandProblem problem={keyChoice.problem} />}
      <div className={classes.acts}>
        {comparison.isRunning ? (
          <Button variant="default" onClick={comparison.stop}>
            {names.stop}
          </Button>
        ) : (
          <Button onClick={() => void comparison.run(calls, times)} disabled={calls.length === 0 || !keyChoice.key}>
            {names.compare.run}
          </Button>
        )}
        <span role="status" className={classes.soft}>
          {comparison.isRunning && names.waiting}
          {comparison.failed && names.notSent[comparison.failed]}
        </span>
      </div>
      <ComparedModels models={comparison.models} times={times} />
    </div>
  );
}

interface ComparedProps {
  models: readonly ComparedModel[];
  /** How often each model is called. */
  times: number;
}

/** The duration and cost of each model, as median and range, and the latest text of each. */
function ComparedModels({ models, times }: ComparedProps) {
  const { compare: names } = useLocalization().messages.inspector;
  const [isRaw, setRaw] = useState(false);
  const answeredModels = models.filter(({ answers }) => answers.length > 0);
  const first = answeredModels[0];
  if (!first) return null;
  return (
    <div className={classes.comparison}>
      <Figures models={answeredModels} times={times} />
      <ModeSwitch isRaw={isRaw} onChange={setRaw} />
      <div className={classes.columns}>
        {answeredModels.map((each) => (
          <LatestText key={each.model} compared={each} first={first} isRaw={isRaw} />
        ))}
      </div>
      {answeredModels.length > 1 && <p className={classes.soft}>{names.differences(first.model)}</p>}
    </div>
  );
}

function Figures({ models, times }: ComparedProps) {
  const { messages, formats } = useLocalization();
  const names = messages.inspector;
  const requests = useControlState((state) => state.requests);
  const recordsOf = ({ answers }: ComparedModel) =>
    answers.flatMap(({ status, requestId }) => requests.filter(({ id }) => id === requestId && status < 400));
  const rows: [
    name: string,
    read: (request: LiveRequest) => number | null | undefined,
    show: (value: number) => string,
  ][] = [
    [names.firstByte, ({ firstByteMs }) => firstByteMs, formats.duration],
    [names.duration, ({ totalMs }) => totalMs, formats.duration],
    [names.compare.outputTokens, ({ usage }) => usage?.outputTokens, formats.number],
    [messages.requests.cost, ({ costUsd }) => costUsd, formats.dollars],
  ];
  const spreadText = (compared: ComparedModel, read: (typeof rows)[number][1], show: (value: number) => string) => {
    const spread = spreadOf(recordsOf(compared).map(read));
    if (!spread) return null;
    const [median, least, most] = [spread.median, spread.least, spread.most].map(show);
    return least === most ? median : `${median} (${least} – ${most})`;
  };
  const answeredCounts = models.map(
    ({ answers }) => `${answers.filter(({ status }) => status < 400).length} / ${times}`,
  );
  return (
    <FigureTable
      heads={models.map(({ model }) => model)}
      rows={[
        { name: names.compare.answered, values: answeredCounts },
        ...rows.map(([name, read, show]) => ({ name, values: models.map((each) => spreadText(each, read, show)) })),
      ]}
    />
  );
}

interface LatestTextProps {
  compared: ComparedModel;
  first: ComparedModel;
  isRaw: boolean;
}

/** Marks the differences from the first model's text. */
function LatestText({ compared, first, isRaw }: LatestTextProps) {
  const latest = compared.answers.at(-1);
  const firstLatest = first.answers.at(-1);
  const text = useMemo(() => answerTextOf(latest?.content ?? null) ?? '', [latest]);
  const isSaid = useMemo(() => saidTextOf(latest?.content ?? null) !== null, [latest]);
  const firstText = useMemo(() => answerTextOf(firstLatest?.content ?? null) ?? '', [firstLatest]);
  const pieces = useDiff(compared === first ? null : firstText, text);
  return <ComparedText head={compared.model} text={text} pieces={pieces} side="second" isMarkdown={!isRaw && isSaid} />;
}

type ComparedAnswer = Extract<SecondAnswer, { state: 'here' }>;

interface ComparedModel {
  model: string;
  answers: readonly ComparedAnswer[];
}

interface ComparedCall extends Omit<PathCall, 'secret' | 'signal'> {
  model: string;
}

/** State of a comparison; `failed` as for a single request. */
interface ComparisonRunner {
  models: readonly ComparedModel[];
  isRunning: boolean;
  failed: Extract<SecondAnswer, { state: 'failed' }>['reason'] | null;
  /** Calls all models in parallel, with the requests to each in sequence. */
  run(calls: readonly ComparedCall[], times: number): Promise<void>;
  stop(): void;
}

/** Sends requests to the gateway with the chosen key. Closing the dialog aborts those still running. */
function useComparison(keyChoice: KeyChoice): ComparisonRunner {
  const [models, setModels] = useState<readonly ComparedModel[]>([]);
  const [isRunning, setRunning] = useState(false);
  const [failed, setFailed] = useState<ComparisonRunner['failed']>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const add = (model: string, answer: ComparedAnswer) =>
    setModels((all) =>
      all.map((each) => (each.model === model ? { ...each, answers: [...each.answers, answer] } : each)),
    );
  return {
    models,
    isRunning,
    failed,
    stop: () => running.current?.abort(),
    async run(calls, times) {
      const abort = new AbortController();
      running.current = abort;
      setRunning(true);
      setFailed(null);
      setModels(calls.map(({ model }) => ({ model, answers: [] })));
      const { secret, isGone } = await keyChoice.peek();
      if (!secret) setFailed(isGone ? 'keyless' : 'unreachable');
      else {
        const sendOne = async ({ model, ...call }: ComparedCall) => {
          // A cached answer says nothing about the model.
          const headers = { ...call.headers, 'x-sluice-cache': 'skip' };
          for (let count = 0; count < times; count++) {
            add(model, await answerOf(await callPath({ ...call, headers, secret, signal: abort.signal })));
          }
        };
        await Promise.all(calls.map(sendOne)).catch(() => {
          setFailed(abort.signal.aborted ? 'stopped' : 'unreachable');
          abort.abort();
        });
      }
      setRunning(false);
    },
  };
}
