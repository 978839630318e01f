import { Button, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { definitionQuery, type Definition } from '../api/definition.ts'
import { send } from '../api/send.ts'
import { announce } from '../components/announce.tsx'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { Source, Users } from '../components/definition-parts.tsx'
import { Dialog } from '../components/dialog.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { SaveForm } from '../components/save-form.tsx'
import { refreshDraft, saveChange, useDraftEdit, useDraftValue } from '../edit/draft.ts'
import { EditTabs } from '../edit/edit-page.tsx'
import { ExampleCheck } from '../edit/example-check.tsx'
import { useNames } from '../edit/pickers.tsx'
import { SaveBar } from '../edit/save-bar.tsx'
import { SchemaField, useNamedSchemas } from '../edit/schema-field.tsx'
import { isMap, pointerOf } from '../edit/values.ts'
import { strings } from '../strings.ts'
import { build } from '../strings/build.ts'
import { schemaEditor } from '../strings/schema-editor.ts'
import { problemOfName } from './schema-name.ts'

const { page: texts, renaming, deleting } = schemaEditor

type Uses = Definition['schemas'][number]['used_by']

/** The editor of a named schema: its fields, an example, its YAML, and what uses it. */
export function SchemaPage({ name }: { readonly name: string }) {
  const at = pointerOf('schema', name)
  const edit = useDraftEdit(at)
  const [example, setExample] = useState<string>()
  const [dialog, setDialog] = useState<'rename' | 'delete'>()
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
          {texts.rename}
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
      {dialog === 'rename' ? <RenameSchema name={name} onClose={() => setDialog(undefined)} /> : null}
      {dialog === 'delete' ? <DeleteSchema name={name} uses={uses} onClose={() => setDialog(undefined)} /> : null}
    </>
  )
}

interface Renaming {
  readonly uses: readonly { readonly at: string; readonly source: string | null }[]
}

interface RenameSchemaProps {
  readonly name: string
  onClose(): void
}

/** Renames a schema and what refers to it, which is listed before. */
function RenameSchema({ name, onClose }: RenameSchemaProps) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const taken = useNames('schema')
  const [to, setTo] = useState(name)
  const problem = to === name ? undefined : problemOfName(to, taken)
  const at = pointerOf('schema', name)
  // The uses do not depend on the new name.
  const preview = useQuery({
    queryKey: ['draft', 'rename', at],
    queryFn: ({ signal }) =>
      send<Renaming>('POST', 'draft/rename', { body: { at, to: `${name}-renamed`, preview: true }, signal }),
    staleTime: 0,
  })
  return (
    <Dialog title={renaming.title(name)} onClose={onClose}>
      <SaveForm
        action={renaming.action}
        onCancel={onClose}
        onSave={async () => {
          if (to === name || problem !== undefined) return
          await send('POST', 'draft/rename', { body: { at, to, preview: false } })
          await refreshDraft(queries)
          announce(renaming.done(name, to))
          onClose()
          await navigate({ to: '/schemas/$name', params: { name: to } })
        }}
      >
        {(errorOf) => (
          <>
            <TextInput
              label={renaming.name}
              name="to"
              className="mono-input"
              data-autofocus
              error={problem ?? errorOf('to')}
              value={to}
              onChange={(event) => setTo(event.currentTarget.value.trim())}
            />
            {preview.isError ? <ProblemAlert error={preview.error} /> : null}
            {preview.data === undefined ? null : (
              <div className="stack-small">
                <p>{renaming.uses(preview.data.uses.length)}</p>
                <ul className="use-list">
                  {preview.data.uses.map(({ at: place, source }) => (
                    <li key={`${source} ${place}`}>
                      <code className="wrap">{place}</code> <span className="soft mono">{source}</span>
                    </li>
                  ))}
                </ul>
              </div>
            )}
          </>
        )}
      </SaveForm>
    </Dialog>
  )
}

interface DeleteSchemaProps extends RenameSchemaProps {
  readonly uses: Uses
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
