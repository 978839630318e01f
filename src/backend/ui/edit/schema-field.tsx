import { Button, Drawer } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { definitionQuery } from '../api/definition.ts'
import { useFocusReturn } from '../components/use-focus-return.ts'
import type { DraftEdit } from './draft-edit.ts'
import { SchemaEditor } from './schema-editor.tsx'
import type { NamedSchemas } from './schema-rows.ts'
import { numbers } from '../components/format.ts'

const texts = {
  done: 'Done',
  title: (name: string) => `Schema ${name}`,
  shared: (amount: number) =>
    amount === 1 ? 'Used in 1 place' : `Used in ${numbers.format(amount)} places. Changes apply to all of them.`,
} as const

interface SchemaFieldProps {
  readonly edit: DraftEdit
  /** The JSON pointer of the schema in waypost.yml. The edit contains it. */
  readonly at: string
  /** The name of the schema, or what it describes. */
  readonly label: string
  /** Whether it is a multipart body, whose fields may be files. */
  readonly hasFiles?: boolean | undefined
}

/** The schemas that other schemas can refer to, by name. */
export function useNamedSchemas(): NamedSchemas {
  const { data } = useQuery(definitionQuery)
  return useMemo(() => Object.fromEntries((data?.schemas ?? []).map(({ name, schema }) => [name, schema])), [data])
}

/** The fields of a schema that is part of an edit. */
export function SchemaField({ edit, at, label, hasFiles }: SchemaFieldProps) {
  const named = useNamedSchemas()
  return (
    <SchemaEditor
      schema={edit.get(at) ?? {}}
      onChange={(schema) => edit.set(at, schema)}
      named={named}
      label={label}
      hasFiles={hasFiles}
      at={at}
      errorOf={edit.errorOf}
    />
  )
}

interface SchemaSheetProps extends SchemaFieldProps {
  onClose(): void
}

/** A schema beside the page that uses it. It is saved with the page. */
export function SchemaSheet({ onClose, ...field }: SchemaSheetProps) {
  useFocusReturn()
  const { data } = useQuery(definitionQuery)
  const uses = data?.schemas.find(({ name }) => name === field.label)?.used_by.length
  return (
    <Drawer.Root opened onClose={onClose} position="right" size="min(880px, 100%)">
      <Drawer.Overlay backgroundOpacity={0.4} />
      <Drawer.Content className="sheet">
        <div className="dialog-header">
          <Drawer.Title>{texts.title(field.label)}</Drawer.Title>
          <Drawer.CloseButton aria-label={texts.done} />
        </div>
        <Drawer.Body>
          <div className="stack">
            {uses === undefined || uses < 2 ? null : <p className="soft">{texts.shared(uses)}</p>}
            <SchemaField {...field} />
            <div>
              <Button onClick={onClose}>{texts.done}</Button>
            </div>
          </div>
        </Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  )
}
