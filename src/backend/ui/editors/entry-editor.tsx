import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState, type ComponentProps, type ReactNode } from 'react'
import { Source } from '../components/definition-parts.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { useDraftEdit, type DraftEdit } from '../edit/draft-edit.ts'
import { EditTabs } from '../edit/edit-page.tsx'
import { DeleteEntry, NameEntry, RenameEntry } from '../edit/entry-dialogs.tsx'
import { EntryMenu } from '../edit/entry-menu.tsx'
import { pointerOf } from '../edit/values.ts'
import { problemTexts } from '../components/problem-texts.ts'
import { connectionTexts } from '../components/connection-texts.ts'
import { cronjobTexts } from '../components/cronjob-texts.ts'
import { entryTexts as texts, renameTexts } from '../edit/entry-texts.ts'
import { actionTexts } from '../pages/action-texts.ts'
import { eventTexts } from '../pages/event-texts.ts'
import { schemaTexts } from '../pages/schema-texts.ts'
import { scopeTexts } from '../pages/scope-texts.ts'

/** A top-level map of waypost.yml with named entries that have a page. */
interface Section {
  /** The key in waypost.yml. */
  readonly key: 'action' | 'connection' | 'cronjob' | 'event' | 'schema' | 'scope'
  /** The page of an entry and that of the list. */
  readonly page: `${Section['list']}/$name`
  readonly list: '/actions' | '/connections' | '/cronjobs' | '/events' | '/schemas' | '/scopes'
  readonly notFound: string
  readonly new: string
  readonly nameText: string
  /** What renaming and deleting mean for others. */
  readonly renameText?: string
  readonly deleteText?: string
}

export const sections = {
  action: { key: 'action', page: '/actions/$name', list: '/actions', ...actionTexts },
  connection: { key: 'connection', page: '/connections/$name', list: '/connections', ...connectionTexts },
  cronjob: { key: 'cronjob', page: '/cronjobs/$name', list: '/cronjobs', ...cronjobTexts },
  event: { key: 'event', page: '/events/$name', list: '/events', ...eventTexts },
  schema: { key: 'schema', page: '/schemas/$name', list: '/schemas', ...schemaTexts },
  scope: { key: 'scope', page: '/scopes/$name', list: '/scopes', ...scopeTexts },
} as const satisfies Record<string, Section>

interface EntryEditorProps extends Pick<ComponentProps<typeof EditTabs>, 'label'> {
  readonly section: Section
  readonly name: string
  /** Other buttons. */
  readonly actions?: ReactNode
  /** Other tabs. */
  more?(edit: DraftEdit, at: string): ComponentProps<typeof EditTabs>['more']
  /** Whether the form has the width of the page. */
  readonly isWide?: boolean
  children(edit: DraftEdit, at: string): ReactNode
}

/** The editor of a named entry: its form, its YAML, renaming with all uses, and deleting while nothing uses it. */
export function EntryEditor({ section, name, actions, label, more, isWide = false, children }: EntryEditorProps) {
  const at = pointerOf(section.key, name)
  const edit = useDraftEdit(at)
  const navigate = useNavigate()
  const isNew = useNewEntry(edit, at)
  const [dialog, setDialog] = useState<'rename' | 'delete'>()
  const close = () => setDialog(undefined)
  if (!edit.isLoading && edit.loadError === undefined && edit.before() === undefined && !isNew)
    return <EmptyState isPage title={problemTexts.notFound} text={section.notFound} />
  const tabs = more?.(edit, at)
  return (
    <>
      <PageHeader title={<span translate="no">{name}</span>} text={<Source value={edit.sourceOf() ?? null} />}>
        {actions}
        {isNew ? null : (
          <EntryMenu
            name={name}
            rename={renameTexts.open}
            onRename={() => setDialog('rename')}
            onDelete={() => setDialog('delete')}
          />
        )}
      </PageHeader>
      <EditTabs
        edit={edit}
        at={at}
        {...(label === undefined ? {} : { label })}
        {...(tabs === undefined ? {} : { more: tabs })}
      >
        {isWide ? children(edit, at) : <div className="form form-wide stack">{children(edit, at)}</div>}
      </EditTabs>
      {dialog === 'rename' ? (
        <RenameEntry
          at={at}
          {...(section.renameText === undefined ? {} : { text: section.renameText })}
          onRenamed={(to) => navigate({ to: section.page, params: { name: to } })}
          onClose={close}
        />
      ) : null}
      {dialog === 'delete' ? (
        <DeleteEntry at={at} name={name} onDeleted={() => navigate({ to: section.list })} onClose={close}>
          {section.deleteText === undefined ? undefined : <p>{section.deleteText}</p>}
        </DeleteEntry>
      ) : null}
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

interface NewEntryProps extends Pick<ComponentProps<typeof NameEntry>, 'description' | 'size' | 'children'> {
  readonly section: Section
  /** What the form of the new entry begins with. */
  readonly value?: unknown
  /** Adds the entry. Without it, the editor opens with `value`, which is saved there. */
  readonly add?: ((name: string, queries: QueryClient, description: string) => Promise<unknown>) | undefined
  onClose(): void
}

/** Asks for the name of a new entry and opens its editor. */
export function NewEntry({ section, value, add, onClose, ...more }: NewEntryProps) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  return (
    <NameEntry
      kind={section.key}
      title={section.new}
      action={add === undefined ? texts.continue : texts.add}
      nameText={section.nameText}
      {...more}
      onSave={async (name, description) => {
        await add?.(name, queries, description)
        onClose()
        await navigate({
          to: section.page,
          params: { name },
          search: add === undefined ? { new: JSON.stringify(value) } : {},
        })
      }}
      onClose={onClose}
    />
  )
}
