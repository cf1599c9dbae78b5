use openapi::apis::{Error, configuration::Configuration, plants_api::create_plant};
use openapi::models;
use std::env;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = env::args().collect();
    let settings = Configuration {
        base_path: env::var("PLANT_STORE_BASE_URL")?,
        bearer_access_token: Some(env::var("PLANT_STORE_TOKEN")?),
        ..Default::default()
    };
    let mut plant = models::NewPlant::new(arguments[2].clone(), arguments[1].parse()?);
    plant.tag = Some("indoor".to_string());
    match create_plant(&settings, plant).await {
        Ok(stored) => println!("{}", serde_json::json!({ "stored": stored })),
        Err(Error::ResponseError(answer)) => {
            let refusal: models::Error = serde_json::from_str(&answer.content)?;
            println!("{}", serde_json::json!(refusal));
        }
        Err(other) => return Err(other.into()),
    }
    Ok(())
}
