import { Autocomplete, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { call } from '../api/call.ts'
import { announce } from '../components/announce.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { useChoices } from '../edit/choices.tsx'
import { lastSave, refreshDraft } from '../edit/save-change.ts'
import { useNames } from '../edit/pickers.tsx'
import { EventFields, Files, Methods, Owner, SoftDelete, type Parent } from './table-api-parts.tsx'
import { findMissing, makeBody, propose, rowKeyOf, softDeletes, type ApiState, type Body } from './table-api-state.ts'
import type { Design } from './table-state.ts'
import { apiTexts as texts } from './table-texts.ts'

interface TableApiProps {
  readonly connection: string
  readonly design: Design
  onClose(): void
  onSaved(): void
}

/** Makes a table an API in one sheet: access, owner, deletion and event, with the files that will be written. */
export function TableApi({ connection, design, onClose, onSaved }: TableApiProps) {
  const queries = useQueryClient()
  const [state, setState] = useState(() => propose(design))
  const known = useNames('scope')
  const scopeChoices = useChoices(() => known)
  const set = (part: Partial<ApiState>) => setState({ ...state, ...part })
  const isNewScope = state.scope !== '' && !known.includes(state.scope)
  const body = makeBody(state, { connection, table: design.name, known })
  const missing = findMissing(state, body)
  const isIncomplete = body.methods.length === 0 || Object.values(missing).includes(true)
  const [isSaving, setSaving] = useState(false)
  // Show no errors for fields that are still empty. After saving, the routes exist.
  const preview = usePreview(isIncomplete ? undefined : body, !isSaving)
  const owners = design.columns.filter(
    ({ type, name }) => (type === 'uuid' || type === 'text') && /user|owner|account|author/i.test(name),
  )
  const own = owners.length > 0 ? owners : design.columns.filter(({ type }) => type === 'uuid')
  const parents = useParents(preview.data?.parents)
  const through = parents.filter(({ problem }) => problem === null).map(({ column }) => column)
  const [first] = through
  // Only the server knows which rows have an owner.
  const [isChosen, setChosen] = useState(state.owner !== '')
  useEffect(() => {
    if (!isChosen && first !== undefined) setState((now) => ({ ...now, owner: first }))
  }, [isChosen, first])
  const chooseOwner = (owner: string) => {
    setChosen(true)
    set({ owner, openParents: state.openParents.filter((column) => column !== owner) })
  }
  const count = body.methods.length
  return (
    <FormDialog
      title={texts.title(design.name)}
      size={1040}
      action={texts.create(count)}
      isIncomplete={isIncomplete}
      onSave={async () => {
        setSaving(true)
        const { saved } = await call('POST /draft/table-api', { body: { ...body, preview: false } }).catch(
          (error: unknown) => {
            setSaving(false)
            throw error
          },
        )
        if (saved !== null)
          lastSave.set(saved, { entries: [{ name: state.path, fields: [] }], pages: [['routes', state.path]] })
        await refreshDraft(queries)
        announce(texts.created(count))
      }}
      onSaved={onSaved}
      onClose={onClose}
    >
      {() => (
        <div className="table-api">
          <div className="stack">
            <TextInput
              label={texts.path}
              {...(missing.path ? { description: texts.pathMissing } : {})}
              name="path"
              className="mono-input"
              data-autofocus
              value={state.path}
              onChange={(event) => set({ path: event.currentTarget.value.trim() })}
            />
            <Autocomplete
              label={texts.scope}
              description={missing.scope ? texts.scopeMissing : texts.scopeText}
              name="scope"
              className="mono-input"
              {...scopeChoices}
              value={state.scope}
              onChange={(scope) => set({ scope: scope.trim() })}
            />
            {isNewScope ? (
              <TextInput
                label={texts.newScope(state.scope)}
                placeholder={texts.newScopePlaceholder}
                dir="auto"
                value={state.description}
                onChange={(event) => set({ description: event.currentTarget.value })}
              />
            ) : null}
            <Methods
              state={state}
              known={known}
              rowKey={rowKeyOf(design) ?? ''}
              onChange={(methods) => set({ methods })}
            />
            <Owner
              own={own.map(({ name }) => name)}
              parents={parents}
              state={state}
              onOwner={chooseOwner}
              onOpen={(openParents) => set({ openParents })}
            />
            <SoftDelete
              columns={softDeletes(design)}
              value={state.softDelete}
              onChange={(softDelete) => set({ softDelete })}
            />
            <EventFields state={state} known={known} isMissing={missing.event} onChange={set} />
          </div>
          <Files connection={connection} design={design} preview={preview} />
        </div>
      )}
    </FormDialog>
  )
}

/** The references to rows with an owner. While the preview is planned again, they are those of the last one. */
function useParents(loaded: readonly Parent[] | undefined): readonly Parent[] {
  const [last, setLast] = useState<readonly Parent[]>([])
  useEffect(() => {
    if (loaded !== undefined) setLast(loaded)
  }, [loaded])
  return loaded ?? last
}

const previewMs = 300

/** The files of the last complete body. */
function usePreview(body: Body | undefined, isActive: boolean) {
  const text = body && JSON.stringify(body)
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    if (text === undefined) return undefined
    const timer = setTimeout(() => setSettled(text), previewMs)
    return () => clearTimeout(timer)
  }, [text])
  return useQuery({
    queryKey: ['table-api', settled],
    queryFn: ({ signal }) =>
      call('POST /draft/table-api', { body: { ...(JSON.parse(settled!) as Body), preview: true } }, signal),
    enabled: isActive && settled !== undefined,
    retry: false,
    gcTime: 0,
  })
}
