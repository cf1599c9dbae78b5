import {
  authorization,
  type Call,
  contentType,
  contentTypeHeader,
  type Language,
  method,
  quote,
  SCHEME,
  urlOf,
} from './call.ts'

/** In ASCII, because the encoding of sources depends on the machine before Java 18. */
function javaString(text: string): string {
  const toEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return quote(text).replace(/[^ -~]/g, toEscape)
}

function writeJava(call: Call): string {
  const { token, body } = call
  return `import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

public class First {
  public static void main(String[] arguments) throws Exception {
    var token = ${token === undefined ? 'System.getenv("PLANT_STORE_TOKEN")' : javaString(token)};
    var body = ${javaString(body)};
    var request = HttpRequest.newBuilder(URI.create(${javaString(urlOf(call))}))
        .header("${authorization}", "${SCHEME}" + token)
        .header("${contentTypeHeader}", "${contentType}")
        .method("${method}", HttpRequest.BodyPublishers.ofString(body))
        .build();
    var response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    System.out.println(response.statusCode() + " " + response.body());
  }
}
`
}

export const java: Language = {
  name: 'Java',
  file: 'First.java',
  run: 'java First.java',
  needs: 'Java 11 or later, nothing else.',
  write: writeJava,
}
