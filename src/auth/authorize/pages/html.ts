/** Markup that is already escaped. Created by `html`. */
export class Html {
  readonly #markup: string

  private constructor(markup: string) {
    this.#markup = markup
  }

  /** Escapes all values except markup. */
  static of(strings: readonly string[], values: readonly HtmlValue[]): Html {
    return new Html(strings.map((text, index) => (index === 0 ? text : write(values[index - 1]) + text)).join(''))
  }

  toString(): string {
    return this.#markup
  }
}

/** Values of a template: text is escaped, lists are joined without a separator, undefined is empty. */
export type HtmlValue = string | Html | readonly Html[] | undefined

/**
 * An HTML template that escapes its values. Values are allowed between tags and in quoted attributes only: not in tag
 * names, unquoted attributes, styles or scripts.
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return Html.of(strings, values)
}

/** Treats text as markup. Only for text from this source code, never for input. */
export function trustMarkup(markup: string): Html {
  return Html.of([markup], [])
}

function write(value: HtmlValue): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return escape(value)
  return value instanceof Html ? value.toString() : value.map(String).join('')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"'`]/g, (character) => entities[character]!)
}
