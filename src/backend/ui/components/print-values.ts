// Imported for its effect: on paper, a value that is longer than its field stands below the field, in full.
const className = 'print-value'

addEventListener('beforeprint', () => {
  removeValues()
  for (const field of document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
    '#content :is(input, textarea)',
  )) {
    const isCut = field.scrollWidth > field.clientWidth + 1 || field.scrollHeight > field.clientHeight + 1
    if (field.type === 'password' || field.value === '' || !isCut) continue
    const value = document.createElement('p')
    value.className = className
    value.textContent = field.value
    field.after(value)
  }
})

addEventListener('afterprint', removeValues)

function removeValues(): void {
  for (const value of document.querySelectorAll(`.${className}`)) value.remove()
}
