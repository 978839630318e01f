import { Radio, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { announce } from './announce.tsx'
import { FormDialog } from './form-dialog.tsx'
import { RedirectUris, type RedirectTexts } from './redirect-uris.tsx'
import { ScopePicker } from './scope-picker.tsx'
import { SecretOnce } from './secret-once.tsx'

export const clientTypes = ['program', 'website', 'app'] as const
export type ClientType = (typeof clientTypes)[number]

/** The backend and the portal address different people, so each has texts of its own. */
interface ClientTexts extends RedirectTexts {
  readonly add: string
  readonly create: string
  readonly name: string
  /** For clients in which users sign in. */
  readonly nameText?: string
  readonly type: string
  readonly types: Readonly<Record<ClientType, string>>
  readonly typeTexts: Readonly<Record<ClientType, string>>
  readonly id: string
  readonly secret: string
  readonly scopes: string
  readonly scopesText: string
  created(name: string): string
}

/** What was entered. */
export interface NewClientValues {
  readonly name: string
  readonly type: ClientType
  /** As entered, one on each line; empty for a program. */
  readonly uris: string
  readonly scopes: readonly string[]
}

interface Created {
  readonly id: string
  readonly name: string
  /** Undefined if it has none. */
  readonly secret?: string | undefined
}

interface NewClientProps<Client extends Created> {
  readonly texts: ClientTexts
  /** The scopes that it can have. */
  readonly from: readonly string[]
  /** Why there are none. */
  readonly emptyText: string
  readonly selected?: readonly string[]
  /** Whether it can be saved without a scope, which `onCreate` then rejects. */
  readonly isCheckedLater?: boolean
  onCreate(values: NewClientValues): Promise<Client>
  /** How it gets a token, below its secret. */
  usage(client: Client, type: ClientType): ReactNode
  /** Fields before the scopes. */
  owner?(errorOf: (field: string) => string | undefined): ReactNode
  /** Below the fields. */
  end?(values: NewClientValues): ReactNode
  onClose(): void
}

/** The dialog that adds a client, shows its secret once, and opens its page. */
export function NewClient<Client extends Created>(props: NewClientProps<Client>) {
  const { texts, from, emptyText, selected = [], isCheckedLater = false, onCreate, usage, owner, end, onClose } = props
  const [name, setName] = useState('')
  const [type, setType] = useState<ClientType>('program')
  const [uris, setUris] = useState('')
  const [scopes, setScopes] = useState(selected)
  const [added, setAdded] = useState<Client>()
  const navigate = useNavigate()
  const open = (id: string) => void navigate({ to: '/clients/$id', params: { id } })
  const values = { name, type, uris: type === 'program' ? '' : uris, scopes }
  const save = async () => {
    const client = await onCreate(values)
    announce(texts.created(client.name))
    if (client.secret === undefined) open(client.id)
    else setAdded(client)
  }
  if (added?.secret !== undefined) {
    return (
      <SecretOnce
        title={texts.created(added.name)}
        values={{ [texts.id]: added.id, [texts.secret]: added.secret }}
        onClose={() => open(added.id)}
      >
        {usage(added, type)}
      </SecretOnce>
    )
  }
  return (
    <FormDialog
      title={texts.add}
      size={560}
      action={texts.create}
      isIncomplete={scopes.length === 0 && !isCheckedLater}
      onSave={save}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <TextInput
            label={texts.name}
            description={type === 'program' ? undefined : texts.nameText}
            name="name"
            dir="auto"
            value={name}
            error={errorOf('name')}
            onChange={(event) => setName(event.currentTarget.value)}
            autoComplete="off"
            data-autofocus
          />
          <Radio.Group label={texts.type} name="grants" value={type} onChange={setType} error={errorOf('grants')}>
            <div className="choices">
              {clientTypes.map((one) => (
                <Radio key={one} value={one} label={texts.types[one]} description={texts.typeTexts[one]} />
              ))}
            </div>
          </Radio.Group>
          {type === 'program' ? null : (
            <RedirectUris texts={texts} value={uris} error={errorOf('redirect_uris')} onChange={setUris} />
          )}
          {owner?.(errorOf)}
          <ScopePicker
            label={texts.scopes}
            name="scopes"
            description={texts.scopesText}
            value={scopes}
            from={from}
            emptyText={emptyText}
            onChange={setScopes}
            error={errorOf('scopes')}
          />
          {end?.(values)}
        </>
      )}
    </FormDialog>
  )
}
