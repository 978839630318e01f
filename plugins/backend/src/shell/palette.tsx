import { Modal, useMantineColorScheme } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState, type KeyboardEvent } from 'react'
import { signOut } from '../session/session.ts'
import { strings } from '../strings.ts'
import { usePages } from './rail.tsx'

interface Command {
  readonly label: string
  readonly kind: string
  run(): void
}

/** Ctrl-K: goes to a page or runs a command. */
export function Palette({ opened, onClose }: { readonly opened: boolean; onClose(): void }) {
  return (
    <Modal.Root opened={opened} onClose={onClose} size={560} yOffset="12vh" centered={false}>
      <Modal.Overlay />
      <Modal.Content aria-label={strings.palette.label}>
        <Search onClose={onClose} />
      </Modal.Content>
    </Modal.Root>
  )
}

function Search({ onClose }: { onClose(): void }) {
  const [text, setText] = useState('')
  const [selected, setSelected] = useState(0)
  const words = text.toLowerCase().split(/\s+/)
  const found = useCommands().filter(({ label, kind }) =>
    words.every((word) => `${kind} ${label}`.toLowerCase().includes(word)),
  )
  const run = (command: Command | undefined) => {
    if (command === undefined) return
    onClose()
    command.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Enter') run(found[selected])
    if (step === undefined || found.length === 0) return
    event.preventDefault()
    setSelected((selected + step + found.length) % found.length)
  }
  return (
    <div className="palette">
      <input
        data-autofocus
        role="combobox"
        aria-expanded
        aria-controls="palette-list"
        aria-activedescendant={found.length === 0 ? undefined : `palette-${selected}`}
        aria-label={strings.palette.placeholder}
        placeholder={strings.palette.placeholder}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setSelected(0)
        }}
        onKeyDown={onKeyDown}
      />
      <ul id="palette-list" role="listbox" aria-label={strings.palette.label}>
        {found.map((command, index) => (
          <li
            key={`${command.kind} ${command.label}`}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === selected}
            ref={index === selected ? scrollTo : undefined}
            onMouseMove={() => setSelected(index)}
            onClick={() => run(command)}
          >
            <span className="soft">{command.kind}</span> {command.label}
          </li>
        ))}
      </ul>
      {found.length === 0 ? <p className="soft palette-none">{strings.palette.none}</p> : null}
    </div>
  )
}

function scrollTo(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'nearest' })
}

function useCommands(): readonly Command[] {
  const navigate = useNavigate()
  const { setColorScheme } = useMantineColorScheme()
  const { palette, account, nav } = strings
  return [
    ...usePages().map(({ title, path, group }) => ({
      label: title,
      kind: group === undefined ? palette.go : nav[group],
      run: () => void navigate({ to: path }),
    })),
    ...(['light', 'dark', 'auto'] as const).map((scheme) => ({
      label: account[scheme],
      kind: account.theme,
      run: () => setColorScheme(scheme),
    })),
    { label: account.signOut, kind: account.label, run: () => void signOut() },
  ]
}
