import { NativeSelect, Textarea } from '@mantine/core';
import { useState } from 'react';
import { CopyLine } from '../../../components/copying/CopyButton.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { listAt, parseJson, textAt } from '../../../state/calls/json-path.ts';
import type { KeyChoice } from '../../../state/choices/use-key-choice.ts';
import { useModelChoice } from '../../../state/choices/use-model-choice.ts';
import { createSessionValue, useSessionFields } from '../../../state/window/session-value.ts';
import { FilePicker } from '../call/FilePicker.tsx';
import { PlaygroundPanel } from '../call/PlaygroundPanel.tsx';
import { createExchangeStore, useExchange } from '../call/use-exchange.ts';
import classes from '../Playground.module.css';
import { MaskEditor } from './MaskEditor.tsx';

const sizes = ['1024x1024', '1536x1024', '1024x1536', '512x512', '256x256'];

interface MadeImage {
  /** `data:` URL, which can be shown. */
  data: string | null;
  /** An external address, which the window does not load. */
  url: string | null;
}

const session = createSessionValue<{
  prompt: string;
  size: string;
  source: File | null;
  images: MadeImage[];
}>({ prompt: '', size: '1024x1024', source: null, images: [] });
const exchangeStore = createExchangeStore();

/** Creates an image from a prompt, or edits one within a painted mask. */
export function ImagesPanel({ keyChoice }: { keyChoice: KeyChoice }) {
  const { playground: names } = useMessages();
  const runner = useExchange(keyChoice, exchangeStore);
  const models = useModelChoice(keyChoice.key?.id ?? null, 'images');
  const [{ prompt, size, source, images }, change] = useSessionFields(session);
  // Goes when the screen is left, as what was painted does.
  const [mask, setMask] = useState<Blob | null>(null);
  const pickSource = (file: File | null) => {
    change({ source: file });
    setMask(null);
  };

  const send = async () => {
    change({ images: [] });
    const fields = { model: models.model, prompt, size };
    const reply = await runner.run(
      source
        ? { path: '/images/edits', body: editForm(fields, source, mask) }
        : { path: '/images/generations', body: fields },
    );
    change({ images: reply ? imagesOf(parseJson(reply.text)) : [] });
  };
  return (
    <PlaygroundPanel
      title={names.panels.images}
      keyChoice={keyChoice}
      models={models}
      isIncomplete={!prompt.trim()}
      onSend={() => void send()}
      lanes={[
        {
          runner,
          result:
            images.length > 0 ? (
              images.map(({ data, url }) =>
                data ? (
                  <img key={data} className={classes.made} src={data} alt={prompt} />
                ) : (
                  url && <CopyLine key={url} value={url} label={names.imageAddress} />
                ),
              )
            ) : (
              <p className={classes.empty}>{names.imagesEmpty}</p>
            ),
        },
      ]}
    >
      <Textarea
        label={names.prompt}
        value={prompt}
        onChange={(event) => change({ prompt: event.currentTarget.value })}
        autosize
        minRows={2}
        maxRows={6}
      />
      <FilePicker
        label={names.chooseImage}
        accept="image/png,image/jpeg,image/webp"
        file={source}
        onPick={pickSource}
      />
      {source && <MaskEditor key={source.name + source.lastModified} source={source} onMask={setMask} />}
      <NativeSelect
        label={names.size}
        value={size}
        onChange={(event) => change({ size: event.currentTarget.value })}
        data={sizes}
      />
    </PlaygroundPanel>
  );
}

function editForm(fields: Record<string, string>, source: File, mask: Blob | null): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('image', source, source.name);
  if (mask) form.append('mask', mask, 'mask.png');
  return form;
}

function imagesOf(reply: unknown): MadeImage[] {
  const format = textAt(reply, 'output_format') ?? 'png';
  return listAt(reply, 'data').map((entry) => {
    const base64 = textAt(entry, 'b64_json');
    return { data: base64 && `data:image/${format};base64,${base64}`, url: textAt(entry, 'url') };
  });
}
