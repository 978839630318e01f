import { Button, TextInput } from '@mantine/core'
import { useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState, type ReactNode } from 'react'
import { send } from '../api/send.ts'
import { announce } from '../components/announce.tsx'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { Source } from '../components/definition-parts.tsx'
import { Dialog } from '../components/dialog.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { SaveForm } from '../components/save-form.tsx'
import { saveChange, useDraftEdit, useDraftValue, type DraftEdit } from '../edit/draft.ts'
import { EditTabs } from '../edit/edit-page.tsx'
import { RenameDialog } from '../edit/rename-dialog.tsx'
import { isMap, pointerOf } from '../edit/values.ts'
import { strings } from '../strings.ts'
import { editing } from '../strings/editing.ts'

const { entry: texts } = editing

/** A top-level map of waypost.yml with named entries that have a page. */
interface Section {
  /** The key in waypost.yml. */
  readonly key: 'action' | 'connection' | 'cronjob'
  /** The page of an entry and that of the list. */
  readonly page: '/actions/$name' | '/connections/$name' | '/cronjobs/$name'
  readonly list: '/actions' | '/connections' | '/cronjobs'
  readonly notFound: string
  readonly new: string
}

export const sections = {
  action: { key: 'action', page: '/actions/$name', list: '/actions', ...texts.action },
  connection: { key: 'connection', page: '/connections/$name', list: '/connections', ...texts.connection },
  cronjob: { key: 'cronjob', page: '/cronjobs/$name', list: '/cronjobs', ...texts.cronjob },
} as const satisfies Record<string, Section>

interface EntryEditorProps {
  readonly section: Section
  readonly name: string
  /** Other buttons. */
  readonly actions?: ReactNode
  children(edit: DraftEdit, at: string): ReactNode
}

/** The editor of a named entry: its form, its YAML, renaming with all uses, and deleting while nothing uses it. */
export function EntryEditor({ section, name, actions, children }: EntryEditorProps) {
  const at = pointerOf(section.key, name)
  const edit = useDraftEdit(at)
  const navigate = useNavigate()
  const taken = useEntryNames(section.key)
  const isNew = useNewEntry(edit, at)
  const [dialog, setDialog] = useState<'rename' | 'delete'>()
  const close = () => setDialog(undefined)
  if (!edit.isLoading && edit.loadError === undefined && edit.before() === undefined && !isNew)
    return <EmptyState title={strings.problem.notFound} text={section.notFound} />
  return (
    <>
      <PageHeader title={name} text={<Source value={edit.sourceOf() ?? null} />}>
        {actions}
        {isNew ? null : (
          <>
            <Button variant="default" onClick={() => setDialog('rename')}>
              {editing.rename.open}
            </Button>
            <Button variant="default" onClick={() => setDialog('delete')}>
              {texts.delete(name)}
            </Button>
          </>
        )}
      </PageHeader>
      <EditTabs edit={edit} at={at}>
        <div className="form form-wide stack">{children(edit, at)}</div>
      </EditTabs>
      {dialog === 'rename' ? (
        <RenameDialog
          at={at}
          name={name}
          example={`${name}-renamed`}
          problemOf={(to) => problemOfName(to, taken)}
          onRenamed={(to) => navigate({ to: section.page, params: { name: to } })}
          onClose={close}
        />
      ) : null}
      {dialog === 'delete' ? <DeleteEntry section={section} name={name} onClose={close} /> : null}
    </>
  )
}

/** Begins the form of an entry that does not exist yet with the value in the URL. Returns whether it is new. */
function useNewEntry(edit: DraftEdit, at: string): boolean {
  const { new: given }: { readonly new?: unknown } = useSearch({ strict: false })
  const isAbsent = !edit.isLoading && edit.loadError === undefined && edit.before() === undefined
  const isNew = given !== undefined && isAbsent
  useEffect(() => {
    if (isNew && edit.get() === undefined) edit.set(at, typeof given === 'string' ? JSON.parse(given) : given)
  }, [isNew])
  return isNew
}

/** The names of the entries of a section. */
export function useEntryNames(key: Section['key']): readonly string[] {
  const { data } = useDraftValue(pointerOf(key))
  return isMap(data?.value) ? Object.keys(data.value) : []
}

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]*$/

function problemOfName(name: string, taken: readonly string[]): string | undefined {
  if (taken.includes(name)) return texts.taken(name)
  return name === '' || namePattern.test(name) ? undefined : texts.invalid
}

interface DeleteEntryProps {
  readonly section: Section
  readonly name: string
  onClose(): void
}

function DeleteEntry({ section, name, onClose }: DeleteEntryProps) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const at = pointerOf(section.key, name)
  const { data } = useDraftValue(at)
  // Renaming knows every use.
  const uses = useQuery({
    queryKey: ['draft', 'rename', at],
    queryFn: ({ signal }) =>
      send<{ readonly uses: readonly { readonly at: string; readonly source: string | null }[] }>(
        'POST',
        'draft/rename',
        { body: { at, to: `${name}-renamed`, preview: true }, signal },
      ),
    staleTime: 0,
  })
  const others = uses.data?.uses ?? []
  return (
    <ConfirmDialog
      title={texts.deleteTitle(name)}
      action={texts.delete(name)}
      isDanger
      isDisabled={data?.etag === undefined || uses.data === undefined || others.length > 0}
      onConfirm={async () => {
        await saveChange(queries, { edits: [{ at, if: data!.etag! }] })
        announce(texts.deleted(name))
        await navigate({ to: section.list })
      }}
      onClose={onClose}
    >
      {uses.isError ? <ProblemAlert error={uses.error} /> : null}
      {others.length === 0 ? (
        <p>{texts.unused}</p>
      ) : (
        <div className="stack-small">
          <p>{texts.inUse}</p>
          <ul className="use-list">
            {others.map(({ at: place, source }) => (
              <li key={`${source} ${place}`}>
                <code className="wrap">{place}</code> <span className="soft mono">{source}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </ConfirmDialog>
  )
}

interface NewEntryProps {
  readonly section: Section
  readonly nameText: string
  /** What the form of the new entry begins with. */
  readonly value?: unknown
  readonly children?: ReactNode
  /** Adds the entry. Without it, the editor opens with `value`, which is saved there. */
  add?(name: string, queries: QueryClient): Promise<unknown>
  onClose(): void
}

/** Asks for the name of a new entry and opens its editor. */
export function NewEntry({ section, nameText, value, children, add, onClose }: NewEntryProps) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const taken = useEntryNames(section.key)
  const [name, setName] = useState('')
  const problem = problemOfName(name, taken)
  return (
    <Dialog title={section.new} size={520} onClose={onClose}>
      <SaveForm
        action={add === undefined ? texts.continue : texts.add}
        onCancel={onClose}
        onSave={async () => {
          if (name === '' || problem !== undefined) return
          await add?.(name, queries)
          onClose()
          await navigate({
            to: section.page,
            params: { name },
            search: add === undefined ? { new: JSON.stringify(value) } : {},
          })
        }}
      >
        {(errorOf) => (
          <>
            <TextInput
              label={texts.name}
              description={nameText}
              name="name"
              className="mono-input"
              data-autofocus
              required
              error={problem ?? errorOf('name')}
              value={name}
              onChange={(event) => setName(event.currentTarget.value.trim())}
            />
            {children}
          </>
        )}
      </SaveForm>
    </Dialog>
  )
}
