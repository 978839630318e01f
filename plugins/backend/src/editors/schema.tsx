import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { definitionQuery, type Definition } from '../api/definition.ts'
import { announce } from '../components/announce.tsx'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { Source, Users } from '../components/definition-parts.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { saveChange, useDraftEdit, useDraftValue } from '../edit/draft.ts'
import { EditTabs } from '../edit/edit-page.tsx'
import { ExampleCheck } from '../edit/example-check.tsx'
import { useNames } from '../edit/pickers.tsx'
import { RenameDialog } from '../edit/rename-dialog.tsx'
import { SaveBar } from '../edit/save-bar.tsx'
import { SchemaField, useNamedSchemas } from '../edit/schema-field.tsx'
import { isMap, pointerOf } from '../edit/values.ts'
import { strings } from '../strings.ts'
import { build } from '../strings/build.ts'
import { editing } from '../strings/editing.ts'
import { schemaEditor } from '../strings/schema-editor.ts'
import { problemOfName } from './schema-name.ts'

const { page: texts, deleting } = schemaEditor

type Uses = Definition['schemas'][number]['used_by']

/** The editor of a named schema: its fields, an example, its YAML, and what uses it. */
export function SchemaPage({ name }: { readonly name: string }) {
  const at = pointerOf('schema', name)
  const edit = useDraftEdit(at)
  const [example, setExample] = useState<string>()
  const [dialog, setDialog] = useState<'rename' | 'delete'>()
  const close = () => setDialog(undefined)
  const navigate = useNavigate()
  const taken = useNames('schema')
  const named = useNamedSchemas()
  const { data } = useQuery(definitionQuery)
  const uses = data?.schemas.find((one) => one.name === name)?.used_by ?? []
  if (!edit.isLoading && edit.loadError === undefined && edit.before() === undefined)
    return <EmptyState title={strings.problem.notFound} text={build.schemas.notFound} />
  const schema = edit.get(at)
  return (
    <>
      <PageHeader title={name} text={<Source value={edit.sourceOf() ?? null} />}>
        <Button variant="default" onClick={() => setDialog('rename')}>
          {editing.rename.open}
        </Button>
        <Button variant="default" onClick={() => setDialog('delete')}>
          {texts.delete}
        </Button>
      </PageHeader>
      <EditTabs
        edit={edit}
        at={at}
        label={schemaEditor.tabs.fields}
        more={[
          {
            name: 'example',
            label: schemaEditor.tabs.example,
            content: (
              <div className="stack-wide">
                <ExampleCheck
                  schema={schema}
                  named={{ ...named, [name]: schema }}
                  label={name}
                  text={example}
                  onChange={setExample}
                  {...(isMap(schema) ? { onKeep: (examples) => edit.set(`${at}/examples`, examples) } : {})}
                />
                <SaveBar edit={edit} />
              </div>
            ),
          },
          {
            name: 'uses',
            label: schemaEditor.tabs.uses,
            content: (
              <section>{uses.length === 0 ? <p className="soft">{texts.unused}</p> : <Users uses={uses} />}</section>
            ),
          },
        ]}
      >
        <SchemaField edit={edit} at={at} label={name} />
      </EditTabs>
      {dialog === 'rename' ? (
        <RenameDialog
          at={at}
          name={name}
          example={`${name}-renamed`}
          problemOf={(to) => problemOfName(to, taken)}
          onRenamed={(to) => navigate({ to: '/schemas/$name', params: { name: to } })}
          onClose={close}
        />
      ) : null}
      {dialog === 'delete' ? <DeleteSchema name={name} uses={uses} onClose={close} /> : null}
    </>
  )
}

interface DeleteSchemaProps {
  readonly name: string
  readonly uses: Uses
  onClose(): void
}

function DeleteSchema({ name, uses, onClose }: DeleteSchemaProps) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const at = pointerOf('schema', name)
  const { data } = useDraftValue(at)
  const others = uses.filter((use) => use.kind !== 'schema' || use.name !== name)
  return (
    <ConfirmDialog
      title={deleting.title(name)}
      action={deleting.action(name)}
      isDanger
      isDisabled={others.length > 0}
      onConfirm={async () => {
        await saveChange(queries, { edits: [{ at, ...(data?.etag === undefined ? {} : { if: data.etag }) }] })
        announce(deleting.done(name))
        await navigate({ to: '/schemas' })
      }}
      onClose={onClose}
    >
      {others.length === 0 ? (
        <p>{deleting.text}</p>
      ) : (
        <div className="stack-small">
          <p>{deleting.inUse}</p>
          <Users uses={others} />
        </div>
      )}
    </ConfirmDialog>
  )
}
