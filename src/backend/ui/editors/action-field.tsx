import { Button, Input, SegmentedControl, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { announce } from '../components/announce.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { useDraftValue, useServerDraft } from '../edit/draft.ts'
import type { DraftEdit } from '../edit/draft-edit.ts'
import { refreshDraft } from '../edit/save-change.ts'
import { EditorLink } from '../edit/editor-link.tsx'
import { SelectField } from '../edit/fields.tsx'
import { SchemaForm } from '../edit/schema-form.tsx'
import { isMap } from '../edit/values.ts'
import { actionTexts as texts } from './route-texts.ts'

type Kind = keyof typeof texts.kinds

interface ActionFieldProps {
  readonly edit: DraftEdit
  /** The JSON pointer of the action. */
  readonly at: string
  /** What it is for, `POST /todo`; undefined where classes are for routes only. */
  readonly route?: string
}

/** What runs: a named action, a class with its settings, or a file of the project. */
export function ActionField({ edit, at, route }: ActionFieldProps) {
  const value = edit.get(at)
  const [chosen, setChosen] = useState<Kind>()
  const hasFiles = useHasFiles()
  const kind = chosen ?? kindOf(value) ?? 'named'
  const choose = (next: Kind) => {
    setChosen(next)
    const before = edit.before(at)
    edit.set(at, kindOf(before) === next ? before : undefined)
  }
  return (
    <div className="stack">
      <Input.Wrapper label={texts.kind} labelElement="div">
        <div>
          <SegmentedControl
            aria-label={texts.kind}
            value={kind}
            data={Object.entries(texts.kinds)
              .filter(([one]) => one !== 'file' || hasFiles || kind === 'file')
              .map(([one, label]) => ({ value: one, label }))}
            onChange={(next) => choose(next as Kind)}
          />
        </div>
      </Input.Wrapper>
      {kind === 'named' ? <NamedAction edit={edit} at={at} /> : null}
      {kind === 'class' ? <ClassAction edit={edit} at={at} isForRoute={route !== undefined} /> : null}
      {kind === 'file' ? <FileAction edit={edit} at={at} {...(route === undefined ? {} : { route })} /> : null}
    </div>
  )
}

function kindOf(action: unknown): Kind | undefined {
  if (isMap(action)) return 'class'
  if (typeof action !== 'string') return undefined
  return /\.[cm]?[jt]s$/.test(action) ? 'file' : 'named'
}

/** Whether actions can be files with code. On a server, only deployed files. */
function useHasFiles(): boolean {
  const isServer = useServerDraft() !== undefined
  const files = useActionFiles().data
  return !isServer || (files?.entry.length ?? 0) > 0
}

export function useActionFiles() {
  return useQuery({ queryKey: ['draft', 'action'], queryFn: ({ signal }) => call('GET /draft/action', {}, signal) })
}

/** The names of the entries of `action:`. */
export function useActionNames(): readonly string[] {
  const { data } = useDraftValue('/action')
  return isMap(data?.value) ? Object.keys(data.value) : []
}

function NamedAction({ edit, at }: { readonly edit: DraftEdit; readonly at: string }) {
  const names = useActionNames()
  const value = edit.get(at)
  return (
    <div className="stack-small">
      <SelectField
        edit={edit}
        at={at}
        label={texts.named}
        description={texts.namedText}
        isRequired
        fallback={names.length === 0 ? texts.none : undefined}
        options={names}
      />
      {typeof value === 'string' && names.includes(value) ? (
        <span>
          <Link to="/actions/$name" params={{ name: value }}>
            {texts.open(value)}
          </Link>
        </span>
      ) : null}
    </div>
  )
}

/** The classes of actions that the plugins of the project provide. */
export function useActionClasses(isForRoute: boolean) {
  const { data } = useQuery({ queryKey: ['class'], queryFn: ({ signal }) => call('GET /class', {}, signal) })
  return (data?.actions ?? []).filter(({ routes_only: routesOnly }) => isForRoute || !routesOnly)
}

interface ClassActionProps {
  readonly edit: DraftEdit
  readonly at: string
  readonly isForRoute: boolean
}

/** A class with its settings, at a pointer with `class` and `config`. */
export function ClassAction({ edit, at, isForRoute }: ClassActionProps) {
  const classes = useActionClasses(isForRoute)
  const value = edit.get(at)
  const name = isMap(value) ? value['class'] : undefined
  const known = classes.find((one) => one.name === name)
  return (
    <div className="stack">
      <SelectField
        edit={{ ...edit, set: (_at, next) => edit.set(at, next === undefined ? undefined : { class: next }) }}
        at={`${at}/class`}
        label={texts.class}
        isRequired
        {...(known === undefined ? {} : { description: known.description })}
        options={classes.map((one) => one.name)}
      />
      {known === undefined ? null : (
        <section aria-label={texts.settings}>
          <SchemaForm key={known.name} edit={edit} at={`${at}/config`} schema={known.config} />
        </section>
      )}
    </div>
  )
}

interface FileActionProps {
  readonly edit: DraftEdit
  readonly at: string
  readonly route?: string
}

function FileAction({ edit, at, route }: FileActionProps) {
  const [isAdding, setAdding] = useState(false)
  const isServer = useServerDraft() !== undefined
  const files = useActionFiles().data
  const value = edit.get(at)
  return (
    <div className="stack-small">
      <div className="with-button">
        <SelectField
          edit={edit}
          at={at}
          label={texts.file}
          description={isServer ? texts.deployedText : texts.fileText}
          isRequired
          isMono
          options={files?.entry.map(({ file }) => file) ?? []}
        />
        {isServer ? null : (
          <Button variant="default" leftSection={<Plus size={14} aria-hidden />} onClick={() => setAdding(true)}>
            {texts.newFile}
          </Button>
        )}
      </div>
      {typeof value === 'string' && value !== '' ? <EditorLink file={value} /> : null}
      {isAdding ? (
        <NewFile
          {...(route === undefined ? {} : { route })}
          onAdd={(file) => edit.set(at, file)}
          onClose={() => setAdding(false)}
        />
      ) : null}
    </div>
  )
}

interface NewFileProps {
  readonly route?: string
  onAdd(file: string): void
  onClose(): void
}

function NewFile({ route, onAdd, onClose }: NewFileProps) {
  const queries = useQueryClient()
  const [file, setFile] = useState(() => suggestFile(route))
  return (
    <FormDialog
      title={texts.createTitle}
      action={texts.create}
      onSave={async () => {
        await call('POST /draft/action', { body: { file, ...(route === undefined ? {} : { route }) } })
        await refreshDraft(queries)
        announce(texts.created(file))
        onAdd(file)
      }}
      onSaved={onClose}
      onClose={onClose}
    >
      {(errorOf) => (
        <TextInput
          label={texts.file}
          description={texts.createText}
          name="file"
          className="mono-input"
          data-autofocus
          required
          error={errorOf('file')}
          value={file}
          onChange={(event) => setFile(event.currentTarget.value.trim())}
        />
      )}
    </FormDialog>
  )
}

const verbs: Readonly<Record<string, string>> = {
  GET: 'read',
  POST: 'insert',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

function suggestFile(route = ''): string {
  const [method = '', path = ''] = route.split(' ')
  const folder = path.split('/').filter((step) => step !== '' && !/^[:*]/.test(step))
  return ['src', ...folder, `${verbs[method] ?? 'action'}.ts`].join('/')
}
