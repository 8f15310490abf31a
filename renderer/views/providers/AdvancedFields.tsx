import {
  Button,
  Fieldset,
  Group,
  NativeSelect,
  NumberInput,
  SimpleGrid,
  Stack,
  Switch,
  TextInput,
} from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { IconAct } from '../../components/IconAct.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import type { ConnectionFormState } from './ConnectionForm.tsx';
import { phases } from './connection-values.ts';
import classes from './Providers.module.css';

/** What few providers need: limits on time, a proxy, headers, how usage is learnt. */
export function AdvancedFields({ form }: { form: ConnectionFormState }) {
  const { connection: names } = useMessages().providers;
  return (
    <Stack gap="sm">
      <Fieldset legend={names.timeouts} className={classes.fieldset}>
        <SimpleGrid cols={2} spacing="sm">
          {phases.map((phase) => (
            <NumberInput
              key={phase}
              label={names.phases[phase]}
              placeholder={names.usual[phase]}
              min={0.001}
              max={86_400}
              suffix=" s"
              hideControls
              {...form.getInputProps(`timeouts.${phase}`)}
            />
          ))}
        </SimpleGrid>
      </Fieldset>
      <ProxyFields form={form} />
      <HeaderFields form={form} />
      <Switch
        label={names.askUsage}
        description={names.askUsageHint}
        {...form.getInputProps('askUsage', { type: 'checkbox' })}
      />
    </Stack>
  );
}

function ProxyFields({ form }: { form: ConnectionFormState }) {
  const { connection: names } = useMessages().providers;
  return (
    <Group grow gap="sm" align="flex-start">
      <NativeSelect
        label={names.proxy}
        data={[
          { value: 'system', label: names.proxySystem },
          { value: 'direct', label: names.proxyDirect },
          { value: 'url', label: names.proxyUrl },
        ]}
        {...form.getInputProps('proxy')}
      />
      {form.values.proxy === 'url' && (
        <TextInput
          label={names.proxyAddress}
          placeholder="http://proxy.example.com:3128"
          autoComplete="off"
          {...form.getInputProps('proxyUrl')}
        />
      )}
    </Group>
  );
}

function HeaderFields({ form }: { form: ConnectionFormState }) {
  const { connection: names } = useMessages().providers;
  return (
    <Fieldset legend={names.headers} className={classes.fieldset}>
      <p className={classes.soft}>{names.headersHint}</p>
      <Stack gap="xs">
        {form.values.headers.map((header, index) => (
          <Group key={`header-${String(index)}`} gap="xs" wrap="nowrap" align="flex-end">
            <TextInput
              label={names.headerName}
              autoComplete="off"
              flex={1}
              {...form.getInputProps(`headers.${index}.name`)}
            />
            <TextInput
              label={names.headerValue}
              autoComplete="off"
              flex={2}
              {...form.getInputProps(`headers.${index}.value`)}
            />
            <IconAct
              label={names.removeHeader(header.name)}
              icon={<IconTrash size={18} />}
              onClick={() => form.removeListItem('headers', index)}
            />
          </Group>
        ))}
        <Button
          size="xs"
          variant="default"
          className={classes.start}
          leftSection={<IconPlus size={14} />}
          onClick={() => form.insertListItem('headers', { name: '', value: '' })}
        >
          {names.addHeader}
        </Button>
      </Stack>
    </Fieldset>
  );
}
