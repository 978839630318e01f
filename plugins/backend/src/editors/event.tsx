import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { definitionQuery } from '../api/definition.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { Source, Users } from '../components/definition-parts.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { saveChange, useDraftEdit, useDraftValue } from '../edit/draft.ts'
import { EditTabs } from '../edit/edit-page.tsx'
import { TextField } from '../edit/fields.tsx'
import { SchemaPicker, ScopesPicker, useNames } from '../edit/pickers.tsx'
import { RenameDialog } from '../edit/rename-dialog.tsx'
import { JsonField } from '../edit/schema-form.tsx'
import { pointerOf } from '../edit/values.ts'
import { strings } from '../strings.ts'
import { build } from '../strings/build.ts'
import { editing } from '../strings/editing.ts'
import { problemOfEvent } from './new-event.tsx'

const { events: texts } = editing

/** The editor of an event. */
export function EventEditor({ name }: { readonly name: string }) {
  const at = pointerOf('event', name)
  const edit = useDraftEdit(at)
  const [dialog, setDialog] = useState<'rename' | 'delete'>()
  const close = () => setDialog(undefined)
  const navigate = useNavigate()
  const taken = useNames('event')
  const { data } = useQuery(definitionQuery)
  const users = data?.events.find((one) => one.name === name)?.dispatched_by ?? []
  if (!edit.isLoading && edit.loadError === undefined && edit.before() === undefined)
    return <EmptyState title={strings.problem.notFound} text={build.events.notFound} />
  return (
    <>
      <PageHeader title={name} text={<Source value={edit.sourceOf() ?? null} />}>
        <Button variant="default" onClick={() => setDialog('rename')}>
          {editing.rename.open}
        </Button>
        <Button variant="default" onClick={() => setDialog('delete')}>
          {texts.delete(name)}
        </Button>
      </PageHeader>
      <EditTabs edit={edit} at={at}>
        <div className="form stack">
          <TextField edit={edit} at={`${at}/description`} label={texts.description} isLong />
          <SchemaPicker
            edit={edit}
            at={`${at}/schema`}
            label={texts.schema}
            description={texts.schemaText}
            fallback={texts.anyData}
          >
            <JsonField edit={edit} at={`${at}/schema`} label={editing.field.json} />
          </SchemaPicker>
          <ScopesPicker edit={edit} at={`${at}/scopes`} label={texts.scopes} description={texts.scopesText} />
          <section>
            <h2>{texts.dispatchedBy}</h2>
            {users.length === 0 ? <p className="soft">{build.events.code}</p> : <Users uses={users} />}
          </section>
        </div>
      </EditTabs>
      {dialog === 'rename' ? (
        <RenameDialog
          at={at}
          name={name}
          example={`${name}_renamed`}
          text={texts.renameText}
          problemOf={(to) => problemOfEvent(to, taken)}
          onRenamed={(to) => navigate({ to: '/events/$name', params: { name: to } })}
          onClose={close}
        />
      ) : null}
      {dialog === 'delete' ? <DeleteEvent name={name} users={users} onClose={close} /> : null}
    </>
  )
}

interface DeleteEventProps {
  readonly name: string
  readonly users: readonly string[]
  onClose(): void
}

function DeleteEvent({ name, users, onClose }: DeleteEventProps) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const at = pointerOf('event', name)
  const { data } = useDraftValue(at)
  return (
    <ConfirmDialog
      title={texts.deleteTitle(name)}
      action={texts.delete(name)}
      isDanger
      isDisabled={users.length > 0}
      onConfirm={async () => {
        await saveChange(queries, { edits: [{ at, ...(data?.etag === undefined ? {} : { if: data.etag }) }] })
        await navigate({ to: '/events' })
      }}
      onClose={onClose}
    >
      {users.length === 0 ? (
        <p>{texts.deleteText}</p>
      ) : (
        <div className="stack-small">
          <p>{texts.inUse}</p>
          <Users uses={users} />
        </div>
      )}
    </ConfirmDialog>
  )
}
