import { Button, Menu } from '@mantine/core'
import { Plus } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { responsesTexts } from './route-texts.ts'

const statuses = [
  '200',
  '201',
  '202',
  '204',
  '400',
  '401',
  '403',
  '404',
  '409',
  '422',
  '429',
  '500',
  '503',
  '4XX',
  '5XX',
  'default',
]

interface AddResponseProps {
  readonly used: ReadonlySet<string>
  /** Adds a response and returns its place. */
  onAdd(status: string): string
}

/** A menu, because a select box would add a response for each status that arrow keys pass. Its field then has the focus. */
export function AddResponse({ used, onAdd }: AddResponseProps) {
  const button = useRef<HTMLButtonElement>(null)
  const added = useRef<string>(undefined)
  useEffect(() => {
    if (added.current === undefined) return
    const field = document.querySelector<HTMLElement>(`input[data-at="${CSS.escape(added.current)}"]`)
    added.current = undefined
    ;(field ?? button.current)?.focus()
  })
  return (
    <Menu position="bottom-start" returnFocus={false}>
      <Menu.Target>
        <Button ref={button} variant="default" className="align-start" leftSection={<Plus size={14} aria-hidden />}>
          {responsesTexts.add}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {statuses
          .filter((status) => !used.has(status))
          .map((status) => (
            <Menu.Item key={status} onClick={() => (added.current = onAdd(status))}>
              <span translate="no">{status}</span>
            </Menu.Item>
          ))}
      </Menu.Dropdown>
    </Menu>
  )
}
