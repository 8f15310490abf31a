import { NativeSelect, Textarea } from '@mantine/core';
import { useState } from 'react';
import { CopyLine } from '../../components/CopyLine.tsx';
import { ModelField } from '../../components/ModelField.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import type { KeyChoice } from '../../state/use-key-choice.ts';
import { useModelChoice } from '../../state/use-model-choice.ts';
import { Bench } from './Bench.tsx';
import { FilePick } from './FilePick.tsx';
import { listAt, parseJson, textAt } from './json-path.ts';
import { MaskEditor } from './MaskEditor.tsx';
import classes from './Playground.module.css';
import { useExchange } from './use-exchange.ts';

const sizes = ['1024x1024', '1536x1024', '1024x1536', '512x512', '256x256'];

interface MadeImage {
  /** `data:` URL, which can be shown. */
  data: string | null;
  /** Elsewhere: the window loads nothing from there. */
  url: string | null;
}

/** An image from a prompt; or a change of one, within what was painted over. */
export function ImagesBench({ keyChoice }: { keyChoice: KeyChoice }) {
  const { playground: names } = useMessages();
  const runner = useExchange(keyChoice);
  const models = useModelChoice(keyChoice.key?.id ?? null, 'images');
  const [prompt, setPrompt] = useState('');
  const [size, setSize] = useState('1024x1024');
  const [source, setSource] = useState<File | null>(null);
  const [mask, setMask] = useState<Blob | null>(null);
  const [images, setImages] = useState<MadeImage[]>([]);
  const pickSource = (file: File | null) => {
    setSource(file);
    setMask(null);
  };

  const send = async () => {
    setImages([]);
    const fields = { model: models.model, prompt, size };
    const reply = await runner.run(
      source
        ? { path: '/images/edits', body: editForm(fields, source, mask) }
        : { path: '/images/generations', body: fields },
    );
    setImages(reply ? imagesOf(parseJson(reply.text)) : []);
  };
  return (
    <Bench
      title={names.benches.images}
      runner={runner}
      isIncomplete={!prompt.trim()}
      onSend={() => void send()}
      result={
        images.length > 0 ? (
          images.map(({ data, url }) =>
            data ? (
              <img key={data} className={classes.made} src={data} alt={prompt} />
            ) : (
              url && <CopyLine key={url} value={url} what={names.imageAddress} />
            ),
          )
        ) : (
          <p className={classes.soft}>{names.imagesEmpty}</p>
        )
      }
    >
      <Textarea
        label={names.prompt}
        value={prompt}
        onChange={(event) => setPrompt(event.currentTarget.value)}
        autosize
        minRows={2}
        maxRows={6}
      />
      <FilePick label={names.chooseImage} accept="image/png,image/jpeg,image/webp" file={source} onPick={pickSource} />
      {source && <MaskEditor key={source.name + source.lastModified} source={source} onMask={setMask} />}
      <NativeSelect
        label={names.size}
        value={size}
        onChange={(event) => setSize(event.currentTarget.value)}
        data={sizes}
      />
      <ModelField choice={models} />
    </Bench>
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
