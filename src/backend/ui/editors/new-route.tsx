import { Input, NativeSelect, SegmentedControl, TagsInput, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { definitionQuery, nameOf } from '../api/definition.ts'
import { announce } from '../components/announce.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { ChoiceSelect } from '../edit/choices.tsx'
import { useDraftValue, useServerDraft } from '../edit/draft.ts'
import { refreshDraft, saveChange, type Edit } from '../edit/save-change.ts'
import { useNames } from '../edit/pickers.tsx'
import { isMap, pointerOf } from '../edit/values.ts'
import { useActionClasses, useActionNames } from './action-field.tsx'
import { isMediaType, offeredTypes, type BodyPart } from './media-types.ts'
import { newTexts as texts } from './route-texts.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
type Method = (typeof methods)[number]

/** A server has no folder for the file of a new action. */
function serverKinds(hasActions: boolean) {
  return { ...(hasActions ? { named: texts.actions.named } : {}), class: texts.classes }
}

/** Adds a method of a path and opens its editor. */
export function NewRoute({ onClose }: { onClose(): void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { data } = useQuery(definitionQuery)
  const scopes = useNames('scope')
  const actions = useActionNames()
  const [method, setMethod] = useState<Method>('GET')
  const [path, setPath] = useState('/')
  const [isPublic, setPublic] = useState(false)
  const [scope, setScope] = useState('')
  const declared = useDeclaration(isPublic ? undefined : scope)
  const isServer = useServerDraft() !== undefined
  const classes = useActionClasses(true)
  const [picked, setKind] = useState<'file' | 'named' | 'class'>()
  // Code is deployed from a project.
  const kind = picked ?? (isServer ? (actions.length > 0 ? 'named' : 'class') : 'file')
  const named = kind === 'class' ? classes.map((one) => one.name) : actions
  const [action, setAction] = useState('')
  const [types, setTypes] = useState<Types>({ request: [], response: [] })
  const name = `${method} ${path}`
  const isTaken = data?.routes.some((one) => nameOf(one) === name) === true
  const problem = isTaken ? texts.taken(name) : path !== '' && !path.startsWith('/') ? texts.mustBegin : undefined
  const kinds = isServer ? serverKinds(actions.length > 0) : texts.actions
  // Action classes read and send JSON.
  const parts: readonly BodyPart[] = kind !== 'file' ? [] : hasBody(method) ? ['request', 'response'] : ['response']
  const isComplete =
    path !== '' &&
    problem === undefined &&
    (isPublic || scope !== '') &&
    parts.every((part) => types[part].every(isMediaType))
  const add = async () => {
    if (!isComplete) return
    const access = isPublic ? { public: true } : { scopes: [scope] }
    if (kind === 'file') {
      await call('POST /draft/route', { body: { method, path, ...access, ...chosenTypes(parts, types) } })
      if (declared.length > 0) await saveChange(queries, { edits: [...declared] })
      await refreshDraft(queries)
    } else {
      // Also a group without methods of its own.
      const hasPath = data?.routes.some((one) => one.path === path || one.groups.includes(path)) === true
      const chosen = kind === 'class' ? { class: action || named[0] } : action || named[0]
      const edit = makeEdit({ method, path, hasPath, value: { ...access, action: chosen } })
      // The settings of a class are entered on the page of the route.
      await saveChange(queries, { edits: [edit, ...declared] }, { withErrors: kind === 'class' })
    }
    announce(texts.added(name))
    onClose()
    await navigate({ to: '/routes/$route', params: { route: name } })
  }

  return (
    <FormDialog title={texts.title} size={520} action={texts.add} onSave={add} onClose={onClose}>
      {(errorOf) => (
        <>
          <div className="method-path">
            <NativeSelect
              label={texts.method}
              name="method"
              data={[...methods]}
              value={method}
              onChange={(event) => setMethod(event.currentTarget.value as Method)}
            />
            <TextInput
              label={texts.path}
              name="path"
              className="mono-input grow"
              data-autofocus
              required
              error={problem ?? errorOf('path')}
              value={path}
              onChange={(event) => setPath(event.currentTarget.value.trim())}
            />
          </div>
          <p className="soft form-text">{texts.pathText}</p>
          <Choice
            label={texts.access}
            value={isPublic ? 'public' : 'scopes'}
            options={texts.accesses}
            onChange={(next) => setPublic(next === 'public')}
          />
          {isPublic ? null : <ScopeField scopes={scopes} value={scope} error={errorOf('scopes')} onChange={setScope} />}
          {actions.length === 0 && !isServer ? (
            <p className="soft">{texts.actionText}</p>
          ) : Object.keys(kinds).length === 1 ? null : (
            <Choice
              label={texts.action}
              value={kind}
              options={kinds}
              onChange={(next) => {
                setKind(next as typeof kind)
                setAction('')
              }}
            />
          )}
          {kind !== 'file' ? (
            <ChoiceSelect
              label={kind === 'class' ? texts.classes : texts.named}
              {...(kind === 'class' ? { description: texts.classText } : {})}
              name="action"
              choices={named.map((one) => ({ value: one, label: one }))}
              value={action || (named[0] ?? '')}
              onChange={setAction}
            />
          ) : null}
          {parts.map((part) => (
            <TypesField
              key={part}
              part={part}
              value={types[part]}
              onChange={(next) => setTypes({ ...types, [part]: next })}
            />
          ))}
          <p className="soft form-text">{texts.tables}</p>
        </>
      )}
    </FormDialog>
  )
}

/** Declares a scope that is new, if the project declares its scopes. */
function useDeclaration(scope: string | undefined): readonly Edit[] {
  const known = useDraftValue('/scope').data?.value
  if (scope === undefined || !isMap(known) || Object.hasOwn(known, scope)) return []
  return [{ at: pointerOf('scope', scope), value: {}, if: null }]
}

type Types = Readonly<Record<BodyPart, readonly string[]>>

function hasBody(method: Method): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH'
}

/** The media types of a request to add a route; without any, it has JSON. */
function chosenTypes(parts: readonly BodyPart[], types: Types): Partial<Record<BodyPart, string[]>> {
  return Object.fromEntries(parts.flatMap((part) => (types[part].length === 0 ? [] : [[part, [...types[part]]]])))
}

interface TypesFieldProps {
  readonly part: BodyPart
  readonly value: readonly string[]
  onChange(types: readonly string[]): void
}

function TypesField({ part, value, onChange }: TypesFieldProps) {
  const wrong = value.find((one) => !isMediaType(one))
  return (
    <TagsInput
      label={texts.types[part]}
      description={texts.typesText[part]}
      name={part}
      placeholder={value.length === 0 ? 'application/json' : ''}
      data={[...offeredTypes[part]]}
      error={wrong === undefined ? undefined : texts.notMediaType(wrong)}
      value={[...value]}
      acceptValueOnBlur
      onChange={(next) => onChange(next.map((one) => one.trim().toLowerCase()))}
    />
  )
}

interface RouteOptions {
  readonly method: Method
  readonly path: string
  /** Whether the path has other methods or is that of a group. */
  readonly hasPath: boolean
  readonly value: object
}

/** The change that adds a method. */
function makeEdit({ method, path, hasPath, value }: RouteOptions): Edit {
  const at = pointerOf('routes', path)
  if (hasPath) return { at: at + pointerOf('methods', method), value, if: null }
  const parameters = path.split('/').flatMap((step) => (/^[:*]/.test(step) ? [step.slice(1)] : []))
  const types = Object.fromEntries(parameters.map((one) => [one, { type: 'string' }]))
  const route = { ...(parameters.length === 0 ? {} : { path: types }), methods: { [method]: value } }
  return { at, value: route, if: null }
}

interface ScopeFieldProps {
  readonly scopes: readonly string[]
  readonly value: string
  readonly error: string | undefined
  onChange(scope: string): void
}

function ScopeField({ scopes, value, error, onChange }: ScopeFieldProps) {
  return (
    <>
      <TextInput
        label={texts.scope}
        description={texts.scopeText}
        name="scopes"
        className="mono-input"
        list="scopes-of-project"
        required
        error={error}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value.trim())}
      />
      <datalist id="scopes-of-project">
        {scopes.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly value: string
  readonly options: Readonly<Record<string, string>>
  onChange(value: string): void
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <Input.Wrapper label={label} labelElement="div">
      <div>
        <SegmentedControl
          aria-label={label}
          value={value}
          data={Object.entries(options).map(([one, text]) => ({ value: one, label: text }))}
          onChange={onChange}
        />
      </div>
    </Input.Wrapper>
  )
}
