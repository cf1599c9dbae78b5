/**
 * Removes `__proto__` from the objects of this thread: a careless library that copies a caller's text
 * from object to object cannot reach the prototype of all objects. Node's flag
 * `--disable-proto=delete` does the same; with `=throw` a header of this name would end the process,
 * because Node's own code for headers sets it. Import this module first, in each thread.
 */
Reflect.deleteProperty(Object.prototype, '__proto__')
