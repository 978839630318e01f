import { Modal } from '@mantine/core'
import { useId, useState, type KeyboardEvent } from 'react'
import { MethodBadge } from '../components/badge.tsx'
import { useFocusReturn } from '../components/use-focus-return.ts'
import { findItems, type Item } from './find-items.ts'

export interface PaletteItem extends Item {
  /** Identifies it among all. */
  readonly key: string
  readonly method?: string
  /** Whether the label is a name, which browsers do not translate. */
  readonly isName?: boolean
  /** What it is, after its label. */
  readonly text?: string
  run(): void
}

interface PaletteProps {
  /** Returns what the palette can find, for what was typed. */
  useItems(text: string): readonly PaletteItem[]
  readonly texts: {
    readonly label: string
    readonly placeholder: string
    readonly none: string
    found(count: number): string
  }
  onClose(): void
}

/** Ctrl-K: goes to a page or to a thing by its name, or runs a command. */
export function Palette({ opened, ...props }: PaletteProps & { readonly opened: boolean }) {
  const { texts, onClose } = props
  return (
    <Modal.Root opened={opened} onClose={onClose} returnFocus={false} size={560} yOffset="12vh" centered={false}>
      <Modal.Overlay />
      <Modal.Content aria-label={texts.label}>{opened ? <Search {...props} /> : null}</Modal.Content>
    </Modal.Root>
  )
}

function Search({ useItems, texts, onClose }: PaletteProps) {
  useFocusReturn()
  const id = useId()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState<string>()
  const groups = findItems(useItems(text), text)
  const found = groups.flatMap(({ items }) => items)
  // What arrives later does not move the choice away from the item under it.
  const selected = Math.max(
    0,
    found.findIndex(({ key }) => key === chosen),
  )
  const run = (item: PaletteItem | undefined) => {
    if (item === undefined) return
    onClose()
    item.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Enter' && !event.nativeEvent.isComposing) run(found[selected])
    if (step === undefined || found.length === 0) return
    event.preventDefault()
    setChosen(found[(selected + step + found.length) % found.length]?.key)
  }
  return (
    <div className="palette">
      <input
        autoFocus // at once: what is typed meanwhile would be lost, or be single-key shortcuts
        data-autofocus
        role="combobox"
        aria-expanded
        aria-controls={`${id}-list`}
        aria-activedescendant={found.length === 0 ? undefined : `${id}-${selected}`}
        aria-label={texts.placeholder}
        placeholder={texts.placeholder}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setChosen(undefined)
        }}
        onKeyDown={onKeyDown}
      />
      <div id={`${id}-list`} role="listbox" aria-label={texts.label} className="palette-list">
        {groups.map(({ group, items }) => (
          <div role="group" aria-label={group} key={group}>
            <div className="palette-group" aria-hidden>
              {group}
            </div>
            {items.map((item) => {
              const index = found.indexOf(item)
              return (
                <div
                  key={item.key}
                  id={`${id}-${index}`}
                  role="option"
                  className="palette-item"
                  aria-selected={index === selected}
                  ref={index === selected ? scrollTo : undefined}
                  onMouseMove={() => setChosen(item.key)}
                  onClick={() => run(item)}
                >
                  {item.method === undefined ? null : <MethodBadge method={item.method} />}
                  <bdi
                    translate={item.isName === true ? 'no' : undefined}
                    className={item.method === undefined ? 'ellipsis' : 'ellipsis mono'}
                  >
                    {item.label}
                  </bdi>
                  {item.text === undefined ? null : <bdi className="ellipsis soft palette-text">{item.text}</bdi>}
                </div>
              )
            })}
          </div>
        ))}
      </div>
      <p role="status" className={found.length === 0 ? 'soft palette-none' : 'hidden'}>
        {found.length === 0 ? texts.none : text === '' ? '' : texts.found(found.length)}
      </p>
    </div>
  )
}

function scrollTo(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'nearest' })
}
